// Exports a checkpoint's tensors for other programs.
#pragma once

#include <filesystem>
#include <string>

namespace dt::train {

struct WeightsExport {
  std::filesystem::path checkpoint, output;
  std::string what = "weights"; // one of exported_parts
  bool force = false;           // replace an existing file
  bool list = false;            // only print names and shapes
};

// The exportable parts of a checkpoint. weights: the trained model, under its parameters' names. optimizer, strategy: their
// buffers under their names in the checkpoint, those of every rank if the ranks differ.
inline constexpr const char* exported_parts[] = {"weights", "optimizer", "strategy"};

// Writes the part as a .safetensors or .npz file, completely or not at all, and reports it; or lists the tensors, one line "name
// TAB 6x1x5x5 LF" each. Throws a usage error if the output exists or has another ending, the checkpoint is not as
// CheckpointWriter writes it, or a weight is NaN or infinite; a run error if there is nothing to export. Returns the exit status.
int export_weights(const WeightsExport& options);

// Throws a usage error if the file exists and `force` is not set.
void write_new_file(const std::filesystem::path& output, const std::string& bytes, bool force);

} // namespace dt::train
