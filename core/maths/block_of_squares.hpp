// Sum of squares of a block of floats, in double: what larger sums are made of, by whatever threads their callers have.
#pragma once

#include <cstddef>

namespace dt {

// Floats of a block: few enough that a team can share the blocks, many enough that adding the partial sums costs little.
inline constexpr std::size_t floats_of_block = 32 * 1024;

// In a fixed order: equal bits for equal numbers. `size` may be smaller than a block.
double block_of_squares(const float* values, std::size_t size);

} // namespace dt
