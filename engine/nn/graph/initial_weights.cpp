#include "engine/nn/graph/initial_weights.hpp"

#include "core/maths/random.hpp"

#include <algorithm>
#include <cmath>

namespace dt::nn {
namespace {

double bound_of(const ParameterShape& shape)
{
  const double gain = shape.feeds_relu ? 2 : 1;
  return std::sqrt(3 * gain / static_cast<double>(shape.fan_in));
}

// Scales and running variances start at 1; shifts and running means start at 0, so that batch norm only normalises.
bool starts_at_one(const ParameterShape& shape)
{
  return shape.kind == ParameterKind::scale || (shape.kind == ParameterKind::statistic && shape.name.ends_with("_var"));
}

} // namespace

float counted_uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index)
{
  constexpr int float_bits = 24;
  return static_cast<float>(first_word(first_word(first_word(seed) ^ stream) ^ index) >> (64 - float_bits)) * 0x1p-24F;
}

std::vector<float> initial_weights(const std::vector<StoredParameter>& parameters, std::uint64_t seed)
{
  std::int64_t size = 0;
  for (const auto& parameter : parameters) size += parameter.shape.size();
  std::vector<float> values(static_cast<std::size_t>(size));
  fill_initial_weights(parameters, seed, values);
  return values;
}

void fill_initial_weights(const std::vector<StoredParameter>& parameters, std::uint64_t seed, std::span<float> values)
{
  float* next = values.data();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto& shape = parameters[p].shape;
    if (shape.kind != ParameterKind::weight) {
      std::fill_n(next, shape.size(), starts_at_one(shape) ? 1.0F : 0.0F);
    } else {
      const auto bound = static_cast<float>(bound_of(shape));
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < shape.size(); ++i)
        next[i] = bound * (2 * counted_uniform(seed, p, static_cast<std::uint64_t>(i)) - 1);
    }
    next += shape.size();
  }
}

} // namespace dt::nn
