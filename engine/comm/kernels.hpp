// Kernels: sums of two vectors in memory, and bfloat16 as it travels. Compiled for several instruction sets, chosen at run time.
#pragma once

#include <cstdint>
#include <span>

namespace dt::engine {

// A float32's upper half: sign, 8 bits of exponent, 7 of mantissa.
using Bfloat16 = std::uint16_t;

// into[i] <- into[i] + from[i]. Equal lengths, no overlap.
void add_to(std::span<float> into, std::span<const float> from);

// Rounded to nearest, ties to even: a relative error of at most 2^-8 for normal numbers. NaN stays NaN. Equal lengths.
void round_to_bfloat16(std::span<const float> values, std::span<Bfloat16> rounded);

// Exact.
void widen(std::span<const Bfloat16> rounded, std::span<float> values);

// into[i] <- into[i] + from[i], in float32.
void add_to(std::span<float> into, std::span<const Bfloat16> from);

} // namespace dt::engine
