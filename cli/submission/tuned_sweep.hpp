// `dtctl sweep` of a study that tunes keys (study.tune).
#pragma once

#include "cli/planning/recipe_options.hpp"
#include "cli/submission/submission.hpp"

namespace dt::cli {

// Searches the best setting of each point, round by round, and then runs all points with their best settings and seeds that the
// search has not used. Waits for all runs. A call that was interrupted is continued by the same call. `plan`: of the recipe.
ExitCode sweep_tuned(Context& context, const RecipeOptions& recipe, recipes::Plan plan, const SubmissionOptions& options);

} // namespace dt::cli
