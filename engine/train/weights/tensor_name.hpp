// TensorName: name and dimensions of a tensor in a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dt::train {

struct TensorName {
  std::string name;               // "conv1.weight"
  std::vector<std::int64_t> dims; // outermost first
  friend bool operator==(const TensorName&, const TensorName&) = default;
};

} // namespace dt::train
