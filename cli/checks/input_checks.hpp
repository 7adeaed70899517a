// Checks a plan's inputs by reading them: data sets, models with the data's images, and initial weights.
#pragma once

#include "cli/checks/engine_model.hpp"
#include "cli/command/context.hpp"
#include "core/home/home.hpp"
#include "recipes/recipe.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

// A data set of the plan that consists of files.
struct CheckedData {
  std::string name;
  std::filesystem::path folder;   // of a packed set: its file
  std::int64_t image_size = 0;    // data.image_size
  std::optional<DataFacts> facts; // nothing if the files do not exist
  std::string remedy;             // how to get the files, if they do not exist
};

// Asks dtengine, which reads the files as a run does, about every distinct data set, model and initial weights of the plan. Also
// checks resources.scheduler_args, which does not ask the scheduler. Throws a RecipeError with all problems that would make a run
// fail, each with its place in the recipe. Throws an environment error if a file cannot be read. If dtengine exists but cannot
// run here, only warns: the job will report problems.
//
// Returns the data sets in the order of the plan. A data set without files is not a problem here: submit needs its content and
// reports it.
std::vector<CheckedData> check_inputs(Context& context, const Home& home, const recipes::Plan& plan);

} // namespace dt::cli
