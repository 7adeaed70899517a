// Checkpoints: the state of a training between two steps as a safetensors file. A file that is not intact is refused.
//
//   file     = as in safetensors.hpp; its header begins with checkpoint_magic (core/spec/run_key.hpp) and the hash
//   metadata = "format": "dtctl checkpoint 1", "xxh3-128": hash of the whole file with zeros in place of the hash;
//              of the owner: run_key engine_build data_id model strategy optimizer ranks;
//              of the progress: step seed epoch learning_rate wall_s … (TrainingProgress); numbers as the shortest decimal text
//              that is read as the same number
//   tensors  = "weights/" parameter, "optimizer/" buffer "/" parameter, "strategy/" buffer "/" parameter;
//              with the prefix "ranks/" rank "/" if the ranks differ. The trained model is then "strategy/centre/" parameter,
//              or "model/" parameter if the strategy keeps no such buffer
//
// Tensors are 32-bit floats in plain order (outputs, inputs, height, width).
#pragma once

#include "core/record/attempt_files.hpp"
#include "core/record/run_record.hpp"
#include "engine/train/weights/input_file.hpp"
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
  // Totals over the measured steps of this attempt and those before it (see RunResult).
  std::int64_t measured_samples = 0;
  double measured_s = 0;      // the slowest rank's time of each attempt
  double communication_s = 0; // exposed communication, mean over workers
  WorkSums work{};
  double loss = not_measured;                               // in the last step
  double eval_loss = not_measured, accuracy = not_measured; // in the last evaluation
  double best_accuracy = not_measured, time_to_accuracy_s = not_measured;
  std::int64_t steps_to_accuracy = 0; // at the evaluation that reached the target first; 0: none did
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
  // Creates the folder if it is missing. The final file is folder/step-<n>.safetensors. `tensors`: all tensors that will be
  // written, because the header precedes the values. Their names may contain slashes.
  CheckpointWriter(const std::filesystem::path& folder, const CheckpointOwner& owner, const TrainingProgress& progress,
                   std::vector<TensorName> tensors);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Writes the values of the next tensor in plain order. Throws an internal error if `name` is not the next one's or the number
  // of values is not that of its dimensions.
  void write(const std::string& name, std::span<const float> values);
  // Writes the hash, syncs and renames the file, then syncs the folder. Call it after all tensors were written. Afterwards the
  // complete file survives a power failure.
  CheckpointFile commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Reads one complete checkpoint.
class CheckpointReader {
 public:
  // Throws an environment error if the file cannot be read; a usage error with file, part and expectation if it is truncated,
  // altered or in another format. The hash finds only accidents: a deliberate change can include the hash, so every part is
  // checked too (SafetensorsReader).
  explicit CheckpointReader(const std::filesystem::path& path);
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;
  CheckpointReader& operator=(CheckpointReader&&) noexcept;

  const std::filesystem::path& path() const;
  const CheckpointOwner& owner() const;
  const TrainingProgress& progress() const;
  // The tensors whose names begin with "GROUP/", without it, in the order of writing.
  std::vector<TensorName> tensors(const std::string& group) const;
  // Fills `values`, which may contain NaN or infinity. Throws a usage error if the tensor does not exist or has other dimensions.
  void read(const std::string& name, std::span<const std::int64_t> dims, std::span<float> values) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Whether the file begins like a checkpoint of CheckpointWriter.
bool is_checkpoint(const InputFile& file);

// The group with the trained model: "weights", "strategy/centre" or "model". Throws a usage error if there is none.
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
