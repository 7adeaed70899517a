#include "engine/comm/block_codes.hpp"

#include "core/maths/function_clones.hpp"
#include "engine/comm/machine/pass.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace dt::comm {
namespace {

constexpr std::size_t block = coded_block;

std::size_t blocks_of(std::size_t count) { return (count + block - 1) / block; }

float largest_code(Wire wire) { return wire == Wire::int8 ? 127.0F : 7.0F; }

// The largest magnitude; not finite if a number is NaN or infinite. The bits of magnitudes have their order, and those of
// infinity and NaN are above all others.
DT_CLONES float largest_magnitude(const float* __restrict values, std::size_t n)
{
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffU);
  return std::bit_cast<float>(largest);
}

float scale_of(Wire wire, const float* values, std::size_t n)
{
  const float largest = largest_magnitude(values, n), scale = largest / largest_code(wire);
  if (!std::isfinite(largest)) return std::numeric_limits<float>::quiet_NaN();
  return scale < std::numeric_limits<float>::min() ? 0 : scale;
}

// codes[i] <- values[i] x factor, rounded to the nearest whole number, ties to even. Magnitudes are below 2^22, so adding 1.5 x
// 2^23 rounds.
DT_CLONES void round_to_codes(const float* __restrict values, float factor, float limit, std::int8_t* __restrict codes,
                              std::size_t n)
{
  constexpr float rounder = 12582912.0F;
  for (std::size_t i = 0; i < n; ++i) {
    const float rounded = (values[i] * factor + rounder) - rounder;
    codes[i] = static_cast<std::int8_t>(std::min(limit, std::max(-limit, rounded)));
  }
}

DT_CLONES void add_scaled(const std::int8_t* __restrict codes, float scale, float* __restrict into, std::size_t n)
{
  for (std::size_t i = 0; i < n; ++i) into[i] += scale * static_cast<float>(codes[i]);
}

using BlockCodes = std::array<std::int8_t, block>;

void pack(Wire wire, const BlockCodes& codes, std::size_t n, std::byte* to)
{
  if (wire == Wire::int8) {
    std::memcpy(to, codes.data(), n);
    return;
  }
  for (std::size_t i = 0; i < n; i += 2) {
    const auto low = static_cast<unsigned>(codes[i]) & 15U, high = i + 1 < n ? static_cast<unsigned>(codes[i + 1]) & 15U : 0U;
    to[i / 2] = static_cast<std::byte>(low | (high << 4U));
  }
}

void unpack(Wire wire, const std::byte* from, std::size_t n, BlockCodes& codes)
{
  if (wire == Wire::int8) {
    std::memcpy(codes.data(), from, n);
    return;
  }
  const auto signed_half = [](unsigned half) { return static_cast<std::int8_t>(static_cast<int>(half ^ 8U) - 8); };
  for (std::size_t i = 0; i < n; ++i)
    codes[i] = signed_half((std::to_integer<unsigned>(from[i / 2]) >> (i % 2 == 0 ? 0U : 4U)) & 15U);
}

// The bytes of a full block's codes.
std::size_t stride_of(Wire wire) { return wire == Wire::int8 ? block : block / 2; }

void add_block(Wire wire, std::span<const std::byte> codes, std::size_t b, std::span<float> into)
{
  const std::size_t begin = b * block, n = std::min(block, into.size() - begin);
  float scale = 0;
  std::memcpy(&scale, codes.data() + b * sizeof scale, sizeof scale);
  BlockCodes numbers;
  unpack(wire, codes.data() + blocks_of(into.size()) * sizeof scale + b * stride_of(wire), n, numbers);
  add_scaled(numbers.data(), scale, into.data() + begin, n);
}

} // namespace

std::size_t coded_bytes(Wire wire, std::size_t count)
{
  return blocks_of(count) * sizeof(float) + (wire == Wire::int8 ? count : (count + 1) / 2);
}

void encode(Wire wire, std::span<const float> values, std::span<std::byte> codes)
{
  if (!begin_pass(codes.data(), values.size_bytes() + codes.size())) return;
  const std::size_t blocks = blocks_of(values.size());
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::size_t begin = b * block, n = std::min(block, values.size() - begin);
    const float scale = scale_of(wire, values.data() + begin, n);
    const bool has_codes = scale > 0; // not if it is 0 or NaN
    BlockCodes numbers{};
    if (has_codes) round_to_codes(values.data() + begin, 1 / scale, largest_code(wire), numbers.data(), n);
    std::memcpy(codes.data() + b * sizeof scale, &scale, sizeof scale);
    pack(wire, numbers, n, codes.data() + blocks * sizeof scale + b * stride_of(wire));
  }
}

void decode(Wire wire, std::span<const std::byte> codes, std::span<float> values)
{
  if (!begin_pass(values.data(), values.size_bytes() + codes.size())) return;
  std::ranges::fill(values, 0.0F);
  for (std::size_t b = 0; b < blocks_of(values.size()); ++b) add_block(wire, codes, b, values);
}

void add_decoded_arrival(Wire wire, std::span<const std::byte> codes, std::span<float> into)
{
  if (!begin_pass_over_arrival(into.data(), 2 * into.size_bytes() + codes.size())) return;
  for (std::size_t b = 0; b < blocks_of(into.size()); ++b) add_block(wire, codes, b, into);
}

} // namespace dt::comm
