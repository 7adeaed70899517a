// Asks dtengine about models, data sets and initial weights.
#pragma once

#include "cli/output/cell.hpp"
#include "core/error.hpp"
#include "core/spec/input_shape.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

struct ModelQuestion {
  std::string model;
  std::vector<std::string> layers{};  // layers of the model custom
  std::optional<std::string> image{}; // "3x32x32"; if missing: the image shape of the published model
  std::optional<std::int64_t> classes{};
  std::int64_t batch = 0; // above 0: also report the memory that the network needs
  friend auto operator<=>(const ModelQuestion&, const ModelQuestion&) = default;
};

// Returns the object that `dtengine model --json` prints. Throws a recipe error with dtengine's message if the model does not
// exist or its shapes do not fit. Throws an environment error if dtengine is missing or fails in another way.
Json ask_engine(const ModelQuestion& question);

// Content of a data set's files.
struct DataFacts {
  InputShape shape;
  std::int64_t train_samples = 0, test_samples = 0;
};

// Throws a recipe error with dtengine's message if `place` (a folder; the file of a packed set) does not contain the data set
// that the recipe names, or if the set cannot be used as the recipe says.
DataFacts ask_engine_of_data(const DataSpec& data, const std::filesystem::path& place);

// Throws a recipe error with dtengine's message if the model cannot use the weights in the file.
void ask_engine_to_start(const ModelQuestion& model, const std::filesystem::path& file);

// dtengine exists but cannot run here, for example on a login node without the job's modules.
class EngineCannotRun : public Error {
 public:
  using Error::Error;
};

} // namespace dt::cli
