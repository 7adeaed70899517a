// Buffers for tests of update rules.
#pragma once

#include "engine/optim/optimizer.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace dt::optim::test {

inline OptimizerSpec rule_of(const std::string& name) { return {.name = name, .weight_decay = 0.01}; }

// Numbers of all sizes and both signs, equal at every call.
inline std::vector<float> wave(std::size_t size, double phase)
{
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto at = static_cast<double>(i);
    values[i] = static_cast<float>(std::sin(phase + 0.7 * at) * std::exp(-0.01 * static_cast<double>(i % 997)));
  }
  return values;
}

} // namespace dt::optim::test
