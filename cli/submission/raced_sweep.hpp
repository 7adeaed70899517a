// `dtctl sweep --until-decided`: submits repeats, waits for them, and stops when the study's decision is made.
#pragma once

#include "cli/planning/recipe_options.hpp"
#include "cli/submission/submission.hpp"

namespace dt::cli {

// Submits the runs of a recipe round by round, as study.until and the rule of store/analysis/statistics/race.hpp say, and prints
// why each point stopped. Every round waits for its runs. A call that was interrupted is continued by the same call: finished
// runs are read from their folders, and the rule decides as it had decided. Throws a usage error if the recipe asks for a ladder
// or a single run.
ExitCode sweep_until_decided(Context& context, const RecipeOptions& recipe, const SubmissionOptions& options);

} // namespace dt::cli
