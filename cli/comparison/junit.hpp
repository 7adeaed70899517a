// Comparisons as JUnit XML, which CI systems read.
#pragma once

#include "store/analysis/verdict/judged.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// One test suite with one test case per comparison: a regression is a failure, a comparison that cannot tell is skipped, and all
// others pass. `missing` are points of the reference without a partner; their test cases are skipped. The text is valid XML 1.0
// whatever characters the names hold: those that XML cannot hold become \xNN.
std::string junit_of(const std::vector<store::Judged>& comparisons, const std::vector<std::string>& missing);

} // namespace dt::cli
