// Sums of products of blocked numbers: the arithmetic of the convolutions and inner products that we compute ourselves. Vectors
// are sixteen adjacent numbers of output channels; they are multiplied with scalars, which lie in rows of sixteen channels.
#pragma once

#include "engine/nn/kernels/processor.hpp"
#include "engine/nn/kernels/simd_vector.hpp"

#include <cstddef>
#include <cstdint>

namespace dt::nn {

inline constexpr std::int64_t block_channels = 16; // numbers of a vector

// Sums over channels: results[r][16] = sum over o < outer, i < 16 of scalars[o][r][i] * vectors[o * 16 + i][16].
struct ChannelSums {
  std::int64_t rows = 0, outer = 0;
  std::ptrdiff_t scalar_stride = 0; // from one o to the next, in floats
  bool accumulate = false;          // adds to what the results hold
};

// Sums over rows: results[i][16] = sum over r < rows of scalars[r][i] * vectors[r][16], i < 16.
struct RowSums {
  std::int64_t rows = 0;
  bool accumulate = false; // adds to what the results hold
};

// The kernels of one instruction set.
struct BlockKernels {
  void (*sum_channels)(const ChannelSums& shape, const float* scalars, const float* vectors, float* results);
  void (*sum_rows)(const RowSums& shape, const float* scalars, const float* vectors, float* results);
  // to[c][r] = from[r][c] of a block of 16 x 16 numbers.
  void (*transpose)(const float* from, float* to);
};
const BlockKernels& block_kernels(InstructionSet set);

// sums[channel] = sum over `count` pixels of a block of 8 or 16 adjacent channels, added to what `sums` holds.
void add_pixels(const float* pixels, std::int64_t count, std::int64_t channels, float* sums);
void add_pixels(const Bf16* pixels, std::int64_t count, std::int64_t channels, float* sums);

} // namespace dt::nn
