#include "engine/comm/kernels.hpp"

#include "core/function_clones.hpp"

#include <bit>
#include <cstddef>

namespace dt::engine {
namespace {

DT_CLONES void add_floats(float* __restrict into, const float* __restrict from, std::size_t n)
{
  for (std::size_t i = 0; i < n; ++i) into[i] += from[i];
}

DT_CLONES void add_rounded(float* __restrict into, const Bfloat16* __restrict from, std::size_t n)
{
  for (std::size_t i = 0; i < n; ++i) into[i] += std::bit_cast<float>(static_cast<std::uint32_t>(from[i]) << 16U);
}

DT_CLONES void widen_all(const Bfloat16* __restrict rounded, float* __restrict values, std::size_t n)
{
  for (std::size_t i = 0; i < n; ++i) values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(rounded[i]) << 16U);
}

// Half of the last bit kept is added, less one when that bit is even, so that a tie goes to the even neighbour. Were it added to
// a NaN, the mantissa could run over into an infinity or a zero: a NaN keeps its upper half with a bit set.
DT_CLONES void round_all(const float* __restrict values, Bfloat16* __restrict rounded, std::size_t n)
{
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    const std::uint32_t nearest = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
    const std::uint32_t quiet = (bits >> 16U) | 0x40U;
    rounded[i] = static_cast<Bfloat16>((bits & 0x7FFFFFFFU) > 0x7F800000U ? quiet : nearest);
  }
}

} // namespace

void add_to(std::span<float> into, std::span<const float> from) { add_floats(into.data(), from.data(), into.size()); }
void add_to(std::span<float> into, std::span<const Bfloat16> from) { add_rounded(into.data(), from.data(), into.size()); }
void widen(std::span<const Bfloat16> rounded, std::span<float> values)
{
  widen_all(rounded.data(), values.data(), values.size());
}

void round_to_bfloat16(std::span<const float> values, std::span<Bfloat16> rounded)
{
  round_all(values.data(), rounded.data(), values.size());
}

} // namespace dt::engine
