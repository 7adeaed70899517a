// `dtctl results --why`: where the efficiency of a study's points went.
#pragma once

#include "cli/command/context.hpp"
#include "cli/runs/selectors.hpp"

namespace dt::cli {

// Prints the attribution of every point as a table, a waterfall of the largest point of each label, the communication of a step,
// and sentences. Throws a usage error if the selection is no whole study, or if no run has the sums that are needed.
void print_why(Context& context, ResultsStore& results, const Selection& selection);

} // namespace dt::cli
