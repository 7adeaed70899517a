// dtctl from its words to its exit code.
#pragma once

#include <string>
#include <vector>

namespace dt::cli {

// Parses, runs the verb, prints. The one place where errors are caught.
int run(const std::vector<std::string>& arguments);

} // namespace dt::cli
