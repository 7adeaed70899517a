// The range of a simulated result over its assumed figures, for `dtctl results` (study.sensitivity).
#pragma once

#include "cli/command/context.hpp"
#include "store/analysis/statistics/sensitivity.hpp"
#include "store/analysis/verdict/point_labels.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// Returns "942.6x on 1024; 924.3x to 955.3x over ±20 % of each assumed figure, most by bandwidth (924.3x to 955.3x)". Variations
// of which a run has no result are named: "…; 924.3x to 942.6x over ±20 % of each assumed figure that has a result, …; without a
// result: bandwidth +20 %, latency ±20 %".
std::string describe(const store::Sensitivity& sensitivity);

// Prints one line for each label, for programs every figure with its results.
void print_sensitivities(Context& context, const std::vector<store::Sensitivity>& all, const store::PointLabels& labels);

} // namespace dt::cli
