// Checkpoints: the state of a training between two steps as an HDF5 file. A file that is not intact is refused.
//
//   file     = header hdf5
//   header   = "dtctl checkpoint 1" LF "xxh3-128 " hash LF zeros
//              512 bytes, HDF5's user block; the hash covers everything after it
//   hdf5     = attributes of "/": run_key engine_build data_id model strategy optimizer ranks
//              attributes of "/progress": step seed epoch learning_rate wall_s … (TrainingProgress)
//              "weights/" parameter, "optimizer/" buffer "/" parameter, "strategy/" buffer "/" parameter;
//              with the prefix "ranks/" rank "/" if the ranks differ. The trained model is then "strategy/centre/" parameter,
//              or "model/" parameter if the strategy keeps no such buffer
//
// Tensors are 32-bit floats in plain order (outputs, inputs, height, width), so that any HDF5 tool can read them by name. They
// are written with libhdf5 but read without it (hdf5_content.hpp), because a checkpoint may come from an untrusted source.
#pragma once

#include "core/record/attempt_files.hpp"
#include "core/record/run_record.hpp"
#include "engine/train/weights/tensor_name.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::train {

// The state of a training after some steps, without its tensors. The order of the samples and the learning rate are pure
// functions of seed and step, so they need no further state.
struct TrainingProgress {
  std::int64_t step = 0; // completed steps
  std::int64_t seed = 0;
  double epoch = 0;         // epochs trained
  double learning_rate = 0; // in the last step
  double wall_s = 0;        // since the first step began, over this attempt and those before it
  double evaluation_s = 0;  // the part of wall_s in evaluations
  double checkpoint_s = 0;  // the part of wall_s in writing checkpoints
  // Totals over the measured steps of this attempt and those before it (see RunResult); 0 in files of earlier versions.
  std::int64_t measured_samples = 0;
  double measured_s = 0;      // the slowest rank's time of each attempt
  double communication_s = 0; // exposed communication, mean over workers
  WorkSums work{};
  double loss = not_measured;                               // in the last step
  double eval_loss = not_measured, accuracy = not_measured; // in the last evaluation
  double best_accuracy = not_measured, time_to_accuracy_s = not_measured;
  std::int64_t steps_to_accuracy =
      0; // at the evaluation that reached the target first; 0: none did, or an earlier version's file
};

// The training that a checkpoint belongs to. No other training can resume from it.
struct CheckpointOwner {
  std::string run_key, engine_build, data_id, model, strategy, optimizer;
  std::int64_t ranks = 1;
  friend bool operator==(const CheckpointOwner&, const CheckpointOwner&) = default;
};

struct CheckpointFile {
  std::filesystem::path path;
  std::int64_t bytes = 0;
};

// Writes one checkpoint under a temporary name; the file is removed unless commit() is called. All errors are environment errors
// that name the file.
class CheckpointWriter {
 public:
  // Creates the folder if it is missing. The final file is folder/step-<n>.h5.
  CheckpointWriter(const std::filesystem::path& folder, const CheckpointOwner& owner, const TrainingProgress& progress);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Writes a tensor with these dimensions in plain order. Its name may contain slashes.
  void write(const std::string& name, std::span<const std::int64_t> dims, std::span<const float> values);
  // Writes the hash, syncs and renames the file, then syncs the folder. Afterwards the complete file survives a power failure.
  CheckpointFile commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Reads one complete checkpoint.
class CheckpointReader {
 public:
  // Throws an environment error if the file cannot be read; a usage error with file, object and expectation if it is truncated,
  // altered or in another format. The hash finds only accidents: a deliberate change can include the hash, so every object is
  // checked too (read_hdf5).
  explicit CheckpointReader(const std::filesystem::path& path);
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;
  CheckpointReader& operator=(CheckpointReader&&) noexcept;

  const std::filesystem::path& path() const;
  const CheckpointOwner& owner() const;
  const TrainingProgress& progress() const;
  // The tensors of a group, with names relative to it, in the order of writing. Empty if the group does not exist.
  std::vector<TensorName> tensors(const std::string& group) const;
  // Fills `values`, which may contain NaN or infinity. Throws a usage error if the tensor does not exist or has other dimensions.
  void read(const std::string& name, std::span<const std::int64_t> dims, std::span<float> values) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The group with the trained model: "weights", "strategy/centre" or "model". Throws a usage error if there is none, because an
// older engine wrote only each rank's weights.
std::string model_group(const CheckpointReader& reader);

// The checkpoints in a folder by file name, intact or not, latest step first. Empty if the folder does not exist.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& folder);

// The intact checkpoint with the most steps from an earlier attempt of this run; of several, the newest attempt's. `refused` gets
// one sentence for each checkpoint that could not be used.
std::optional<CheckpointReader> find_checkpoint(const AttemptFolder& attempt, const CheckpointOwner& owner,
                                                std::vector<std::string>& refused);

// Removes all but the latest `count` checkpoints of a folder, and files that a killed writer left.
void prune_checkpoints(const std::filesystem::path& folder, std::size_t count);

} // namespace dt::train
