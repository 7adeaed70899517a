// The entry point of dtctl: from the command line to the exit code.
#pragma once

#include <string>
#include <vector>

namespace dt::cli {

// Parses the arguments, runs the verb and prints its results. This is the only place that catches errors.
int run(const std::vector<std::string>& arguments);

} // namespace dt::cli
