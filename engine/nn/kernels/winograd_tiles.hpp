// The transforms of Winograd's minimal filtering F(2x2, 5x5) [Lavin2016]: 2x2 results of a 5x5 convolution from tiles of 6x6
// pixels with 36 multiplications per channel instead of 100. oneDNN has such an algorithm for 3x3 convolutions only.
//
// Y = A^T [(G g G^T) . (B^T d B)] A for a window g, pixels d, results Y; the points are 0, 1, -1, 2, -2 and infinity.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dt::nn {

inline constexpr std::int64_t winograd_window = 5, winograd_results = 2, winograd_side = winograd_results + winograd_window - 1;
inline constexpr std::int64_t winograd_points = winograd_side * winograd_side;
inline constexpr std::int64_t winograd_lanes = 16; // adjacent channels

// A part of an image plane of adjacent channels: rows [first_row, first_row + 6) and columns alike; what lies outside the image
// counts as zeros and is not written.
struct WinogradTile {
  std::int64_t height, width; // of the image
  std::int64_t first_row, first_column;
};

// to[point] = B^T d B of one tile of pixels, for sixteen channels; a vector each point_stride floats.
void winograd_pixels(const float* image, const WinogradTile& tile, float* to, std::ptrdiff_t point_stride);
// to = A^T m A: 2x2 results from the first row and column on, plus `bias` (sixteen numbers, or null), with `rectify` max(., 0).
void winograd_result(const float* points, std::ptrdiff_t point_stride, const float* bias, bool rectify, const WinogradTile& tile,
                     float* image);
// to[point] = A y A^T of a tile of 2x2 gradients of results: the adjoint of winograd_result.
void winograd_result_gradient(const float* image, const WinogradTile& tile, float* to, std::ptrdiff_t point_stride);
// to[point] = G g G^T for sixteen windows side by side: window[row][column] every pixel_stride floats. `rotated`: of the window
// turned by 180 degrees.
void winograd_window_points(const float* window, std::ptrdiff_t pixel_stride, bool rotated, float* to,
                            std::ptrdiff_t point_stride);
// window = G^T m G, the adjoint.
void winograd_window_gradient(const float* points, std::ptrdiff_t point_stride, float* window, std::ptrdiff_t pixel_stride);

// The sums over `count` pixels of sixteen adjacent channels.
void add_pixels(const float* pixels, std::int64_t count, float* sums);

} // namespace dt::nn
