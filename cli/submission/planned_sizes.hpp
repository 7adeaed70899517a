// Predictions in `dtctl plan`: what the sizes of a recipe that have not run yet will probably give.
#pragma once

#include "cli/command/context.hpp"
#include "cli/planning/resolve.hpp"

namespace dt::cli {

// If a study of this recipe's name is in the database with enough sizes: prints the predicted throughput, efficiency and cost of
// the recipe's other sizes, and the size whose measurement would tell most. Otherwise prints nothing: a plan needs no
// predictions.
void print_planned_sizes(Context& context, const Home& home, const Resolved& resolved);

} // namespace dt::cli
