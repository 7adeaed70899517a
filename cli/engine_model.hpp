// What dtengine says of a model: layers, shapes, costs, or that it does not fit its images.
#pragma once

#include "cli/cell.hpp"
#include "cli/context.hpp"
#include "core/input_shape.hpp"
#include "recipes/recipe.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

struct ModelQuestion {
  std::string model;
  std::vector<std::string> layers{};  // of model custom
  std::optional<std::string> image{}; // "3x32x32"; the model's natural one when left out
  std::optional<std::int64_t> classes{};
  std::int64_t batch = 0; // above 0: what the network needs in memory, too
  friend auto operator<=>(const ModelQuestion&, const ModelQuestion&) = default;
};

// The object that `dtengine model --json` prints. A recipe error in dtengine's words when there is no such model or its shapes
// do not fit; an environment error when dtengine is missing or fails otherwise.
Json ask_engine(const ModelQuestion& question);

// Asks of every distinct model and image shape of the plan. A RecipeError with all that do not fit. Where dtengine is there but
// cannot run, as on a login node without the job's modules, a warning: the job will say it.
void check_models(Context& context, const recipes::Plan& plan);

} // namespace dt::cli
