// Vector sums in memory, and conversion to and from bfloat16. Compiled for several instruction sets and selected at run time.
#pragma once

#include "engine/comm/machine/buffer.hpp"

#include <cstdint>
#include <span>

namespace dt::comm {

// The upper half of a float32: 1 bit sign, 8 bits exponent, 7 bits mantissa.
using Bfloat16 = std::uint16_t;

// to[i] <- from[i]. Equal lengths, no overlap.
void copy_to(std::span<const float> from, std::span<float> to);
void copy_to(std::span<const Bfloat16> from, std::span<Bfloat16> to);

// A copy of `values`.
Floats copy_of(std::span<const float> values);

// into[i] <- into[i] + from[i], in float32, where `from` has just arrived from another rank. Equal lengths, no overlap.
void add_arrival_to(std::span<float> into, std::span<const float> from);
void add_arrival_to(std::span<float> into, std::span<const Bfloat16> from);

// into[i] <- into[i] + from[i]. Equal lengths, no overlap.
void add_to(std::span<float> into, std::span<const float> from);

// sums[i] <- sources[0][i] + sources[1][i] + …, in this order. Each source has as many numbers as `sums` and does not overlap it.
void sum_to(std::span<const float* const> sources, std::span<float> sums);

// Rounds to nearest, ties to even: the relative error is at most 2^-8 for normal numbers. NaN stays NaN. Equal lengths, no
// overlap.
void round_to_bfloat16(std::span<const float> values, std::span<Bfloat16> rounded);

// Converts bfloat16 to float32. Exact.
void widen(std::span<const Bfloat16> rounded, std::span<float> values);

} // namespace dt::comm
