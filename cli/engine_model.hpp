// What dtengine says of a model, of a data set's files and of what a run starts from.
#pragma once

#include "cli/cell.hpp"
#include "core/error.hpp"
#include "core/input_shape.hpp"

#include <cstdint>
#include <filesystem>
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

// What a data set's files hold.
struct DataFacts {
  InputShape shape;
  std::int64_t train_samples = 0, test_samples = 0;
};

// A recipe error in dtengine's words when the folder does not hold what a data set of that name does.
DataFacts ask_engine_of_data(const std::string& name, const std::filesystem::path& folder);

// A recipe error in dtengine's words when the model cannot begin with the weights in the file.
void ask_engine_to_start(const ModelQuestion& model, const std::filesystem::path& file);

// dtengine is there but cannot run where dtctl does, as on a login node without the job's modules.
class EngineCannotRun : public Error {
 public:
  using Error::Error;
};

} // namespace dt::cli
