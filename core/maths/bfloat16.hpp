// Rounding of 32-bit floats to bfloat16.
#pragma once

#include <cstdint>

namespace dt {

// The bits of the nearest bfloat16 in the upper half of each word; the lower half is undefined. A tie goes to the neighbour whose
// last bit is 0. A NaN stays a NaN: adding to its mantissa could carry into the exponent and sign, so it only gets its quiet bit.
// `Words` is std::uint32_t or a GCC vector of it.
template<class Words> [[gnu::always_inline]] inline Words bfloat16_bits(Words float_bits)
{
  const Words nearest = float_bits + (0x7FFFU + ((float_bits >> 16) & 1U));
  const Words quiet = float_bits | 0x400000U;
  return (float_bits & 0x7FFFFFFFU) > 0x7F800000U ? quiet : nearest;
}

} // namespace dt
