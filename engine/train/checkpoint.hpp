// Checkpoints: a training between two steps as an HDF5 file that is whole or refused.
//
//   file     = header hdf5
//   header   = "dtctl checkpoint 1" LF "xxh3-128 " hash LF zeros
//              512 bytes, HDF5's user block; the hash is over everything behind it
//   hdf5     = attributes of "/": run_key engine_build data_id model strategy optimizer ranks
//              attributes of "/progress": step seed epoch learning_rate wall_s … (TrainingProgress)
//              "weights/" parameter, "optimizer/" buffer "/" parameter, "strategy/" buffer "/" parameter;
//              with "ranks/" rank "/" before them where the ranks differ. Then the one model that was trained is
//              "strategy/centre/" parameter, or "model/" parameter where the strategy keeps no such buffer
//
// Tensors are 32-bit floats in plain order (outputs, inputs, height, width), so that any HDF5 tool reads them by name. They are
// written with libhdf5 and read without it (hdf5_content.hpp), because a checkpoint may come from somebody else.
#pragma once

#include "core/run_record.hpp"
#include "engine/train/tensor_name.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::engine {

// Where a training stands after so many steps, apart from its tensors. The order of the samples and the learning rate are
// pure functions of seed and step, so these two are all their state.
struct TrainingProgress {
  std::int64_t step = 0; // steps done
  std::int64_t seed = 0;
  double epoch = 0;         // epochs trained
  double learning_rate = 0; // of the last step
  double wall_s = 0;        // since the first step began, over all attempts that led here
  double evaluation_s = 0;  // the part of it in evaluations
  double checkpoint_s = 0;  // the part of it in writing checkpoints
  // Of the measured steps of all attempts that led here (RunResult): 0 in files of earlier versions.
  std::int64_t measured_samples = 0;
  double measured_s = 0;      // the slowest rank's in each attempt
  double communication_s = 0; // exposed communication, mean over workers
  double loss = not_measured; // of the last step
  double eval_loss = not_measured, accuracy = not_measured; // last evaluation
  double best_accuracy = not_measured, time_to_accuracy_s = not_measured;
};

// Whose training it is. A checkpoint serves no other.
struct CheckpointOwner {
  std::string run_key, engine_build, data_id, model, strategy, optimizer;
  std::int64_t ranks = 1;
  friend bool operator==(const CheckpointOwner&, const CheckpointOwner&) = default;
};

struct CheckpointFile {
  std::filesystem::path path;
  std::int64_t bytes = 0;
};

// Writes one checkpoint beside its final name; gone unless committed. All errors are environment errors that name the file.
class CheckpointWriter {
public:
  // Makes the folder when it is missing. The file will be folder/step-<n>.h5.
  CheckpointWriter(const std::filesystem::path& folder, const CheckpointOwner& owner, const TrainingProgress& progress);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // A tensor of these dimensions in plain order; its name may hold slashes.
  void write(const std::string& name, std::span<const std::int64_t> dims, std::span<const float> values);
  // Seals, syncs and renames the file, then syncs the folder: it is there whole, also after a power cut.
  CheckpointFile commit();

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One whole checkpoint.
class CheckpointReader {
public:
  // An environment error when the file cannot be read; a usage error that names the file, the object and what was expected when it
  // is torn, altered or of another format. The hash finds accidents only: who alters a file on purpose also writes its hash, so
  // every object is checked too (read_hdf5).
  explicit CheckpointReader(const std::filesystem::path& path);
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;
  CheckpointReader& operator=(CheckpointReader&&) noexcept;

  const std::filesystem::path& path() const;
  const CheckpointOwner& owner() const;
  const TrainingProgress& progress() const;
  // All in a group, by their names below it, in the order in which they were written; none when there is no such group.
  std::vector<TensorName> tensors(const std::string& group) const;
  // Fills `values`, which may be NaN or infinite; a usage error when there is no such tensor or its dimensions are others.
  void read(const std::string& name, std::span<const std::int64_t> dims, std::span<float> values) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The group that holds the one model that was trained: "weights", "strategy/centre" or "model". A usage error when there
// is none, because an older engine has written each rank's weights only.
std::string model_group(const CheckpointReader& reader);

// The checkpoints in a folder by their names, whole or not, the latest step first; none when there is no folder.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& folder);

// The checkpoint of most steps that an earlier attempt of this run has left whole, the newest attempt's among equals. Those
// that were passed over are told in `refused`, a sentence each.
std::optional<CheckpointReader> find_checkpoint(const AttemptFolder& attempt, const CheckpointOwner& owner,
                                                std::vector<std::string>& refused);

// Removes all but the latest `count` checkpoints of a folder, and what a killed writer left behind.
void prune_checkpoints(const std::filesystem::path& folder, std::size_t count);

} // namespace dt::engine
