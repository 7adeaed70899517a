// A checkpoint's tensors for other programs.
#pragma once

#include <filesystem>
#include <string>

namespace dt::engine {

struct WeightsExport {
  std::filesystem::path checkpoint, output;
  std::string what = "weights"; // of exported_parts
  bool force = false;           // replace what is there
  bool list = false;            // print names and shapes, write nothing
};

// What of a checkpoint can be exported. weights: of the one model that was trained, under the names of its parameters;
// optimizer, strategy: their buffers, every rank's where ranks differ, under their names in the checkpoint.
inline constexpr const char* exported_parts[] = {"weights", "optimizer", "strategy"};

// Writes them as an .npz, whole or not at all, and says so; or lists them, "name TAB 6x1x5x5 LF" each. A usage error when the output
// exists, the checkpoint is not as CheckpointWriter makes it or a weight is NaN or infinite; a run error when there is nothing to export. Exit status.
int export_weights(const WeightsExport& options);

} // namespace dt::engine
