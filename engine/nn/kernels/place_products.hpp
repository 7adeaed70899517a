// Sums of products over places (pixels of a convolution's output): the kernels of WeightSums, for AVX2. A place has vectors of 8
// adjacent output channels (the output's gradient) and scalars (numbers of the input); every scalar is multiplied with every
// vector.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dt::nn {

inline constexpr std::int64_t place_channels = 8;                            // adjacent channels in a vector
inline constexpr std::int64_t most_place_scalars = 4, most_place_blocks = 3; // of a tile

// results[b * result_block + s * 8 + channel] += sum over all images i, rows r and columns c of
//   scalars[i * scalar_image + r * scalar_row + c * scalar_column + s * scalar_stride] *
//   vectors[i * vector_image + r * vector_row + c * 8 + b * vector_block + channel]
// for s < `s` and b < `b` of the tile. All steps are in floats.
struct PlaceSums {
  std::int64_t images = 1, rows = 0, columns = 0;
  std::ptrdiff_t scalar_image = 0, scalar_row = 0, scalar_column = 0, scalar_stride = 1;
  std::ptrdiff_t vector_image = 0, vector_row = 0, vector_block = 0;
  std::ptrdiff_t result_block = 0;
};
using PlaceKernel = void (*)(const PlaceSums& shape, const float* scalars, const float* vectors, float* results);

// The kernel of a tile of 1 to most_place_scalars scalars and 1 to most_place_blocks vectors. It may run only on a processor with
// AVX2.
PlaceKernel place_kernel(std::int64_t scalars, std::int64_t blocks);

} // namespace dt::nn
