// `dtctl results --best-by`: the points of a study by a criterion and by their node-hours.
#pragma once

#include "cli/context.hpp"
#include "cli/runs/selectors.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// The values of --best-by.
std::vector<std::string> criteria_names();

// Prints the points of the selected runs, the best first, and marks the Pareto set. Throws a usage error if no run has a figure
// for the criterion.
void print_best(Context& context, ResultsStore& results, const Selection& selection, const std::string& criterion);

} // namespace dt::cli
