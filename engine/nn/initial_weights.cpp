#include "engine/nn/initial_weights.hpp"

#include <cmath>

namespace dt::engine {
namespace {

// The finalizer of SplitMix64: every bit of the input reaches every bit of the output.
std::uint64_t mix(std::uint64_t x)
{
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

double bound_of(const ParameterShape& shape)
{
  const double fan_in = static_cast<double>(shape.size()) / static_cast<double>(shape.dims[0]);
  const double gain = shape.feeds_relu ? 2 : 1;
  return shape.kind == ParameterKind::bias ? 0 : std::sqrt(3 * gain / fan_in);
}

} // namespace

float counted_uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index)
{
  constexpr int float_bits = 24;
  return static_cast<float>(mix(mix(mix(seed) ^ stream) ^ index) >> (64 - float_bits)) * 0x1p-24F;
}

std::vector<float> initial_weights(const std::vector<StoredParameter>& parameters, std::uint64_t seed)
{
  std::vector<float> values;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto& shape = parameters[p].shape;
    const auto bound = static_cast<float>(bound_of(shape));
    for (std::int64_t i = 0; i < shape.size(); ++i) {
      values.push_back(bound * (2 * counted_uniform(seed, p, static_cast<std::uint64_t>(i)) - 1));
    }
  }
  return values;
}

} // namespace dt::engine
