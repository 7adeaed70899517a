// Block codes: float32 numbers rounded to whole numbers of 8 or 4 bits, with one float32 scale for each block of them.
#pragma once

#include "core/spec/run_spec.hpp"

#include <cstddef>
#include <span>

namespace dt::comm {

// A block of coded_block numbers x has the scale max |x| / 127 (int8) or max |x| / 7 (int4), and the codes x / scale, rounded to
// the nearest whole number. Decoded, a number is code x scale: its error is at most scale / 2, up to float32's own rounding. A
// block whose scale would be below 2^-126 becomes zeros. A block with NaN or an infinity becomes NaN. Zeros stay
// zeros.
//
// The layout: the scales of all blocks, then the codes; two int4 in a byte, the first one in its lower half.

// Bytes of `count` coded numbers. The wire is int8 or int4, here and below.
std::size_t coded_bytes(Wire wire, std::size_t count);

// codes.size() must be coded_bytes(wire, values.size()).
void encode(Wire wire, std::span<const float> values, std::span<std::byte> codes);
void decode(Wire wire, std::span<const std::byte> codes, std::span<float> values);
// into[i] <- into[i] + decoded number i, where the codes have just arrived from another rank.
void add_decoded_arrival(Wire wire, std::span<const std::byte> codes, std::span<float> into);

} // namespace dt::comm
