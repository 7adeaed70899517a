// What tests ask of a compute profile.
#pragma once

#include "core/spec/compute_profile.hpp"

namespace dt::test {

inline std::int64_t parameters_of(const ComputeProfile& profile)
{
  std::int64_t sum = 0;
  for (const auto& layer : profile.layers) sum += layer.parameters.value_or(0);
  return sum;
}

} // namespace dt::test
