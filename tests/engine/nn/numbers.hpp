// Test input: values that look random and are the same everywhere.
#pragma once

#include "engine/nn/graph/initial_weights.hpp"

#include <cstdint>
#include <vector>

namespace dt::nn {

// Uniform in [-1, 1), exact in float and in double.
inline std::vector<double> numbers(std::int64_t size, std::uint64_t stream)
{
  std::vector<double> values;
  for (std::int64_t i = 0; i < size; ++i) values.push_back(2.0 * counted_uniform(7, stream, static_cast<std::uint64_t>(i)) - 1.0);
  return values;
}

// Values from -1 to 1 in a mixed order, no two closer than 1/size: no kink of a maximum or a ReLU is near.
inline std::vector<double> distinct_numbers(std::int64_t size)
{
  std::vector<double> values;
  constexpr std::int64_t prime = 7919;
  for (std::int64_t i = 0; i < size; ++i) {
    values.push_back((2.0 * static_cast<double>(i * prime % size) + 1.0) / static_cast<double>(size) - 1.0);
  }
  return values;
}

inline std::vector<float> to_float(const std::vector<double>& values)
{
  std::vector<float> floats;
  for (const double value : values) floats.push_back(static_cast<float>(value));
  return floats;
}

inline std::vector<double> to_double(const std::vector<float>& values) { return {values.begin(), values.end()}; }

} // namespace dt::nn
