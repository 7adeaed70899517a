// What the tests of checkpoint files write into them.
#pragma once

#include "engine/train/weights/checkpoint.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

namespace dt::train::test {

inline const CheckpointOwner owner{.run_key = "0123abcd",
                                   .engine_build = "build",
                                   .data_id = "data",
                                   .model = "lenet",
                                   .strategy = "sync-sgd",
                                   .optimizer = "sgd",
                                   .ranks = 2};

// The extents of a tensor, and its 12 values: first, first + 1, …
inline const std::vector<std::int64_t> dims{2, 3, 1, 2};
inline std::vector<float> numbers(float first = 1)
{
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// Writes a checkpoint with these tensors, which all have the same values.
inline std::filesystem::path write_tensors(const std::filesystem::path& folder, const TrainingProgress& progress,
                                           const std::vector<TensorName>& tensors, const std::vector<float>& values,
                                           const CheckpointOwner& whose = owner)
{
  CheckpointWriter writer(folder, whose, progress, tensors);
  for (const auto& tensor : tensors) writer.write(tensor.name, values);
  return writer.commit().path;
}

} // namespace dt::train::test
