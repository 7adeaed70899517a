// Winograd's minimal filtering in two dimensions [Lavin2016]: F(4x4, 3x3) computes 4x4 results of a 3x3 convolution from a tile
// of 6x6 pixels with 36 multiplications per channel instead of 144; F(4x4, 5x5) computes 4x4 results of a 5x5 convolution from
// 8x8 pixels with 64 instead of 400.
//
// Y = A^T [(G g G^T) . (B^T d B)] A for a window g, pixels d, results Y (winograd_transforms.hpp for 3x3,
// winograd_wide_transforms.hpp for 5x5). The 36 or 64 numbers of a tile or a window after its transform are its points.
#pragma once

#include "core/spec/choices.hpp"
#include "engine/nn/kernels/block_products.hpp"
#include "engine/nn/kernels/processor.hpp"

#include <cstddef>
#include <cstdint>

namespace dt::nn {

// A part of an image plane of adjacent channels: rows from first_row on, as many as a tile has, and columns alike; what lies
// outside the image counts as zeros and is not written.
struct WinogradTile {
  std::int64_t height, width; // of the image
  std::int64_t first_row, first_column;
};

// The transforms for one size of window, one type of the planes' numbers (float or Bf16) and one instruction set. They compute in
// fp32, and points are fp32.
struct WinogradKernels {
  std::int64_t points, results; // numbers of a transformed tile or window; side length of a tile's results
  std::int64_t block;           // adjacent channels that one call of a transform computes: those of a pixel in a plane
  // to[point] = B^T d B of one tile of pixels; a vector each point_stride floats.
  void (*pixels)(const void* plane, const WinogradTile& tile, float* to, std::ptrdiff_t point_stride);
  // The results A^T m A from the tile's first row and column on, plus `bias` (`block` numbers, or null), with `rectify`
  // max(., 0).
  void (*give_results)(const float* points, std::ptrdiff_t point_stride, const float* bias, bool rectify,
                       const WinogradTile& tile, void* plane);
  // to[point] = A y A^T of a tile of gradients of results: the adjoint of give_results.
  void (*result_gradients)(const void* plane, const WinogradTile& tile, float* to, std::ptrdiff_t point_stride);
  // to[point] = G g G^T for sixteen windows side by side: window[row][column] every pixel_stride floats. `rotated`: of the window
  // turned by 180 degrees.
  void (*window_points)(const float* window, std::ptrdiff_t pixel_stride, bool rotated, float* to, std::ptrdiff_t point_stride);
  // window = G^T m G, the adjoint.
  void (*window_gradient)(const float* points, std::ptrdiff_t point_stride, float* window, std::ptrdiff_t pixel_stride);
};

// For windows of 3x3 and 5x5; planes of Bf16 for bf16.
const WinogradKernels& winograd_kernels(std::int64_t window, Precision precision, InstructionSet set);

} // namespace dt::nn
