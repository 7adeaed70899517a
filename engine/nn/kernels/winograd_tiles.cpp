#include "engine/nn/kernels/winograd_tiles.hpp"

#include "core/function_clones.hpp"
#include "engine/nn/kernels/lanes.hpp"
#include "engine/nn/kernels/winograd_transforms.hpp"

namespace dt::nn {
namespace {

using Vector = Lanes<static_cast<int>(winograd_lanes)>;
using Floats = Vector::Floats;
constexpr int side = static_cast<int>(winograd_side), window_side = static_cast<int>(winograd_window),
              results = static_cast<int>(winograd_results);

// Loads a part of the image; what lies outside is zero.
template<int Size> [[gnu::always_inline]] inline void load_tile(const float* image, const WinogradTile& tile, Floats* to)
{
  const bool inside = tile.first_row >= 0 && tile.first_column >= 0 && tile.first_row + Size <= tile.height &&
                      tile.first_column + Size <= tile.width;
  for (int r = 0; r < Size; ++r)
    for (int c = 0; c < Size; ++c) {
      const auto row = tile.first_row + r, column = tile.first_column + c;
      const bool exists = inside || (row >= 0 && row < tile.height && column >= 0 && column < tile.width);
      to[r * side + c] = exists ? Vector::load(image + (row * tile.width + column) * winograd_lanes) : Floats{};
    }
}

} // namespace

DT_CLONES void winograd_pixels(const float* image, const WinogradTile& tile, float* to, std::ptrdiff_t point_stride)
{
  Floats d[side * side];
  load_tile<side>(image, tile, d);
  for (int r = 0; r < side; ++r) pixels_along(d + r * side, 1);
  for (int c = 0; c < side; ++c) pixels_along(d + c, side);
  for (int point = 0; point < side * side; ++point) Vector::store(d[point], to + point * point_stride);
}

DT_CLONES void winograd_result(const float* points, std::ptrdiff_t point_stride, const float* bias, bool rectify,
                               const WinogradTile& tile, float* image)
{
  Floats m[side * side];
  for (int point = 0; point < side * side; ++point) m[point] = Vector::load(points + point * point_stride);
  for (int r = 0; r < side; ++r) results_along(m + r * side, 1);
  for (int c = 0; c < results; ++c) results_along(m + c, side);
  const auto start = bias ? Vector::load(bias) : Floats{};
  for (int r = 0; r < results; ++r)
    for (int c = 0; c < results; ++c) {
      const auto row = tile.first_row + r, column = tile.first_column + c;
      if (row >= tile.height || column >= tile.width) continue;
      const auto value = m[r * side + c] + start;
      Vector::store(rectify ? (value < 0 ? Floats{} : value) : value, image + (row * tile.width + column) * winograd_lanes);
    }
}

DT_CLONES void winograd_result_gradient(const float* image, const WinogradTile& tile, float* to, std::ptrdiff_t point_stride)
{
  Floats y[side * side];
  load_tile<results>(image, tile, y);
  for (int r = 0; r < results; ++r) result_gradients_along(y + r * side, 1);
  for (int c = 0; c < side; ++c) result_gradients_along(y + c, side);
  for (int point = 0; point < side * side; ++point) Vector::store(y[point], to + point * point_stride);
}

DT_CLONES void winograd_window_points(const float* window, std::ptrdiff_t pixel_stride, bool rotated, float* to,
                                      std::ptrdiff_t point_stride)
{
  Floats g[side * side];
  constexpr int last = window_side * window_side - 1;
  for (int r = 0; r < window_side; ++r)
    for (int c = 0; c < window_side; ++c) {
      const int pixel = r * window_side + c;
      g[r * side + c] = Vector::load(window + (rotated ? last - pixel : pixel) * pixel_stride);
    }
  for (int r = 0; r < window_side; ++r) windows_along(g + r * side, 1);
  for (int c = 0; c < side; ++c) windows_along(g + c, side);
  for (int point = 0; point < side * side; ++point) Vector::store(g[point], to + point * point_stride);
}

DT_CLONES void winograd_window_gradient(const float* points, std::ptrdiff_t point_stride, float* window,
                                        std::ptrdiff_t pixel_stride)
{
  Floats m[side * side];
  for (int point = 0; point < side * side; ++point) m[point] = Vector::load(points + point * point_stride);
  for (int r = 0; r < side; ++r) window_gradients_along(m + r * side, 1);
  for (int c = 0; c < window_side; ++c) window_gradients_along(m + c, side);
  for (int r = 0; r < window_side; ++r)
    for (int c = 0; c < window_side; ++c) Vector::store(m[r * side + c], window + (r * window_side + c) * pixel_stride);
}

DT_CLONES void add_pixels(const float* pixels, std::int64_t count, float* sums)
{
  auto sum = Vector::load(sums);
  for (std::int64_t pixel = 0; pixel < count; ++pixel) sum += Vector::load(pixels + pixel * winograd_lanes);
  Vector::store(sum, sums);
}

} // namespace dt::nn
