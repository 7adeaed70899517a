#include "engine/comm/vectors.hpp"

#include "core/maths/bfloat16.hpp"
#include "core/maths/function_clones.hpp"
#include "engine/comm/machine/pass.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace dt::comm {
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

DT_CLONES void round_all(const float* __restrict values, Bfloat16* __restrict rounded, std::size_t n)
{
  for (std::size_t i = 0; i < n; ++i)
    rounded[i] = static_cast<Bfloat16>(bfloat16_bits(std::bit_cast<std::uint32_t>(values[i])) >> 16);
}

} // namespace

void copy_to(std::span<const float> from, std::span<float> to)
{
  if (begin_pass(to.data(), 2 * to.size_bytes())) std::ranges::copy(from, to.begin());
}

void copy_to(std::span<const Bfloat16> from, std::span<Bfloat16> to)
{
  if (begin_pass(to.data(), 2 * to.size_bytes())) std::ranges::copy(from, to.begin());
}

Floats copy_of(std::span<const float> values)
{
  Floats copy(values.size());
  copy_to(values, copy);
  return copy;
}

void add_to(std::span<float> into, std::span<const float> from)
{
  if (begin_pass(into.data(), 3 * into.size_bytes())) add_floats(into.data(), from.data(), into.size());
}

// One pass to the simulator, which would take long for a pass a strip.
void sum_to(std::span<const float* const> sources, std::span<float> sums)
{
  constexpr std::size_t strip = 1024; // numbers that stay in the first-level cache until all sources are added
  if (!begin_pass(sums.data(), (3 * sources.size() - 1) * sums.size_bytes())) return;
  for (std::size_t at = 0; at < sums.size(); at += strip) {
    const auto length = std::min(strip, sums.size() - at);
    std::copy_n(sources.front() + at, length, sums.data() + at);
    for (const auto* source : sources.subspan(1)) add_floats(sums.data() + at, source + at, length);
  }
}

void add_arrival_to(std::span<float> into, std::span<const float> from)
{
  if (begin_pass_over_arrival(into.data(), 3 * into.size_bytes())) add_floats(into.data(), from.data(), into.size());
}

void add_arrival_to(std::span<float> into, std::span<const Bfloat16> from)
{
  if (begin_pass_over_arrival(into.data(), 2 * into.size_bytes() + from.size_bytes()))
    add_rounded(into.data(), from.data(), into.size());
}

void widen(std::span<const Bfloat16> rounded, std::span<float> values)
{
  if (begin_pass(values.data(), rounded.size_bytes() + values.size_bytes()))
    widen_all(rounded.data(), values.data(), values.size());
}

void round_to_bfloat16(std::span<const float> values, std::span<Bfloat16> rounded)
{
  if (begin_pass(rounded.data(), values.size_bytes() + rounded.size_bytes()))
    round_all(values.data(), rounded.data(), values.size());
}

} // namespace dt::comm
