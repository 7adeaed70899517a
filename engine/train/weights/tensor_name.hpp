// TensorName: name and dimensions of a tensor in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dt::train {

struct TensorName {
  std::string name;               // "conv1.weight"
  std::vector<std::int64_t> dims; // outermost first
  friend bool operator==(const TensorName&, const TensorName&) = default;
};

// Product of the dimensions, none of which may be negative; 1 without any.
std::size_t element_count(std::span<const std::int64_t> dims);

// Whether tensors of these two shapes hold the same numbers in the same order, because each dimension of the model's is the
// product of consecutive ones of the file's: 10x64x1x1 for 10x64, 2x128x48x5x5 (groups on their own) for 256x48x5x5.
bool is_same_order(std::span<const std::int64_t> in_file, std::span<const std::int64_t> in_model);

} // namespace dt::train
