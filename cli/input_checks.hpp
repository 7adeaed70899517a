// Checks of a plan's inputs that read them: data sets, models on their images, and what runs start from.
#pragma once

#include "cli/context.hpp"
#include "cli/engine_model.hpp"
#include "core/paths.hpp"
#include "recipes/recipe.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

// A data set of the plan that is read from files.
struct CheckedData {
  std::string name;
  std::filesystem::path folder;
  std::optional<DataFacts> facts; // nothing when it is not there
};

// Asks dtengine, which reads the files as a run will, of every distinct data set, model on its images and start of the plan; each
// once. Reads the words for Slurm (resources.scheduler_args), which need no Slurm here. A RecipeError with all that a run would fail of, each where the recipe says it; an environment error when a file cannot
// be read. Where dtengine is there but cannot run, a warning: the job will say it.
//
// Data sets in the order of the plan. One that is not there is no finding here: whoever submits needs its content and says so.
std::vector<CheckedData> check_inputs(Context& context, const Home& home, const recipes::Plan& plan);

} // namespace dt::cli
