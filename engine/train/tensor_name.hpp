// A tensor outside of a network: its name and its extents.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dt::engine {

struct TensorName {
  std::string name;               // "conv1.weight"
  std::vector<std::int64_t> dims; // outermost first
  friend bool operator==(const TensorName&, const TensorName&) = default;
};

} // namespace dt::engine
