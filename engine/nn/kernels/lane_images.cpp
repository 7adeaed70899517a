#include "engine/nn/kernels/lane_images.hpp"

#include "core/function_clones.hpp"
#include "engine/nn/kernels/lanes.hpp"

#include <algorithm>
#include <cstring>

namespace dt::nn {
namespace {

constexpr int lanes = static_cast<int>(image_lanes);
using Vector = Lanes<lanes>;
using Floats = Vector::Floats;
using Words = Vector::Words;
typedef std::int32_t Places __attribute__((vector_size(64)));
typedef std::uint8_t Bytes __attribute__((vector_size(16)));

// Exchanges the halves of pairs of vectors that are `distance` apart: one of the four stages of a 16 x 16 transposition.
template<int distance> [[gnu::always_inline]] inline void exchange(Floats* rows)
{
  Places low, high; // lanes of the two vectors, the second one's counted from 16
  for (int i = 0; i < lanes; ++i) {
    low[i] = i & distance ? 16 + (i ^ distance) : i;
    high[i] = i & distance ? 16 + i : i ^ distance;
  }
  for (int i = 0; i < lanes; ++i) {
    if (i & distance) continue;
    const auto a = rows[i], b = rows[i + distance];
    rows[i] = __builtin_shuffle(a, b, low);
    rows[i + distance] = __builtin_shuffle(a, b, high);
  }
}

[[gnu::always_inline]] inline void transpose(Floats* rows)
{
  exchange<1>(rows);
  exchange<2>(rows);
  exchange<4>(rows);
  exchange<8>(rows);
}

[[gnu::always_inline]] inline Floats load_first(const float* from, std::int64_t count)
{
  Floats values{};
  std::memcpy(&values, from, static_cast<std::size_t>(count) * sizeof(float));
  return values;
}

// The range of a window's rows or columns that lies within the image.
struct Clipped {
  std::int64_t begin, end;
};

Clipped clipped(std::int64_t window, std::int64_t size, const PoolingWindows& windows)
{
  const auto first = window * windows.stride - windows.padding;
  return {std::max<std::int64_t>(first, 0), std::min(first + windows.kernel, size)};
}

// Calls f(channel, output pixel, rows, columns) for every window; `rows` and `columns` are clipped.
template<class F> [[gnu::always_inline]] inline void for_windows(const PoolingWindows& windows, const F& f)
{
  const auto &in = windows.input, &out = windows.output;
  for (std::int64_t channel = 0; channel < out.channels; ++channel)
    for (std::int64_t y = 0; y < out.height; ++y) {
      const auto rows = clipped(y, in.height, windows);
      for (std::int64_t x = 0; x < out.width; ++x)
        f(channel, ((channel * out.height + y) * out.width + x), y, x, rows, clipped(x, in.width, windows));
    }
}

std::int64_t place_in_window(const PoolingWindows& windows, std::int64_t window_y, std::int64_t window_x, std::int64_t row,
                             std::int64_t column)
{
  return (row - (window_y * windows.stride - windows.padding)) * windows.kernel + column -
         (window_x * windows.stride - windows.padding);
}

} // namespace

DT_CLONES void transpose_to_lanes(const float* plain, std::int64_t rows, std::int64_t row_stride, std::int64_t columns,
                                  float* transposed)
{
  for (std::int64_t column = 0; column < columns; column += lanes) {
    const auto width = std::min<std::int64_t>(lanes, columns - column);
    Floats block[lanes];
    for (std::int64_t row = 0; row < lanes; ++row) {
      const float* from = plain + row * row_stride + column;
      block[row] = row >= rows ? Floats{} : width == lanes ? Vector::load(from) : load_first(from, width);
    }
    transpose(block);
    for (std::int64_t i = 0; i < width; ++i) Vector::store(block[i], transposed + (column + i) * lanes);
  }
}

DT_CLONES void transpose_from_lanes(const float* from, std::int64_t columns, std::int64_t row_stride, float* plain)
{
  for (std::int64_t column = 0; column < columns; column += lanes) {
    Floats block[lanes];
    for (std::int64_t i = 0; i < lanes; ++i)
      block[i] = column + i < columns ? Vector::load(from + (column + i) * lanes) : Floats{};
    transpose(block);
    for (std::int64_t row = 0; row < lanes; ++row) Vector::store(block[row], plain + row * row_stride + column);
  }
}

namespace {

// Fills the border of one padded plane, and calls fill(row, its first inner vector) for each inner row.
template<class F> void fill_padded(const Shape& shape, std::int64_t border, float* plane, const F& fill)
{
  const auto width = (shape.width + 2 * border) * lanes;
  std::fill_n(plane, border * width, 0.0F);
  for (std::int64_t row = 0; row < shape.height; ++row) {
    float* line = plane + (border + row) * width;
    std::fill_n(line, border * lanes, 0.0F);
    fill(row, line + border * lanes);
    std::fill_n(line + (border + shape.width) * lanes, border * lanes, 0.0F);
  }
  std::fill_n(plane + (border + shape.height) * width, border * width, 0.0F);
}

} // namespace

void pad_plain_images(const float* images, std::int64_t count, const Shape& shape, std::int64_t border, float* padded)
{
  const auto plane = (shape.height + 2 * border) * (shape.width + 2 * border) * lanes;
  for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
    const float* from = images + channel * shape.height * shape.width;
    if (border == 0) {
      transpose_to_lanes(from, count, shape.size(), shape.height * shape.width, padded + channel * plane);
      continue;
    }
    fill_padded(shape, border, padded + channel * plane, [&](std::int64_t row, float* line) {
      transpose_to_lanes(from + row * shape.width, count, shape.size(), shape.width, line);
    });
  }
}

void pad_lane_images(const float* from, const Shape& shape, std::int64_t border, float* padded)
{
  const auto plane = (shape.height + 2 * border) * (shape.width + 2 * border) * lanes;
  for (std::int64_t channel = 0; channel < shape.channels; ++channel)
    fill_padded(shape, border, padded + channel * plane, [&](std::int64_t row, float* line) {
      std::copy_n(from + (channel * shape.height + row) * shape.width * lanes, shape.width * lanes, line);
    });
}

namespace {

[[gnu::always_inline]] inline void pool_maximum(const PoolingWindows& windows, const float* images, float* results,
                                                std::uint8_t* winners)
{
  const auto& in = windows.input;
  for_windows(
      windows, [&](auto channel, auto pixel, auto wy, auto wx, Clipped rows, Clipped columns) __attribute__((always_inline)) {
        const float* plane = images + channel * in.height * in.width * lanes;
        const float* first = plane + (rows.begin * in.width + columns.begin) * lanes;
        auto largest = Vector::load(first); // not minus infinity: a NaN stays
        auto winner = Places{} + static_cast<std::int32_t>(place_in_window(windows, wy, wx, rows.begin, columns.begin));
        for (auto row = rows.begin; row < rows.end; ++row)
          for (auto column = columns.begin; column < columns.end; ++column) {
            const auto value = Vector::load(plane + (row * in.width + column) * lanes);
            const auto larger = value > largest;
            largest = larger ? value : largest;
            winner = larger ? Places{} + static_cast<std::int32_t>(place_in_window(windows, wy, wx, row, column)) : winner;
          }
        if (windows.rectified) winner = largest > 0 ? winner : Places{} + std::int32_t{no_winner};
        Vector::store(largest, results + pixel * lanes);
        const auto bytes = __builtin_convertvector(winner, Bytes);
        std::memcpy(winners + pixel * lanes, &bytes, sizeof bytes);
      });
}

[[gnu::always_inline]] inline void pool_mean(const PoolingWindows& windows, const float* images, float* results)
{
  const auto& in = windows.input;
  for_windows(
      windows, [&](auto channel, auto pixel, auto, auto, Clipped rows, Clipped columns) __attribute__((always_inline)) {
        const float* plane = images + channel * in.height * in.width * lanes;
        Floats sum{};
        for (auto row = rows.begin; row < rows.end; ++row)
          for (auto column = columns.begin; column < columns.end; ++column)
            sum += Vector::load(plane + (row * in.width + column) * lanes);
        const auto pixels = static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
        Vector::store(sum * (1 / pixels), results + pixel * lanes);
      });
}

// Adds to each pixel of a window its part of the window's gradient.
[[gnu::always_inline]] inline void spread(const PoolingWindows& windows, const float* gradients, const std::uint8_t* winners,
                                          float* image_gradients)
{
  const auto& in = windows.input;
  for_windows(
      windows, [&](auto channel, auto pixel, auto wy, auto wx, Clipped rows, Clipped columns) __attribute__((always_inline)) {
        float* plane = image_gradients + channel * in.height * in.width * lanes;
        auto gradient = Vector::load(gradients + pixel * lanes);
        Places winner{};
        if (windows.mean) {
          gradient *= 1 / static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
        } else {
          Bytes bytes;
          std::memcpy(&bytes, winners + pixel * lanes, sizeof bytes);
          winner = __builtin_convertvector(bytes, Places);
        }
        for (auto row = rows.begin; row < rows.end; ++row)
          for (auto column = columns.begin; column < columns.end; ++column) {
            float* at = plane + (row * in.width + column) * lanes;
            const auto place = Places{} + static_cast<std::int32_t>(place_in_window(windows, wy, wx, row, column));
            const auto part = windows.mean ? gradient : winner == place ? gradient : Floats{};
            Vector::store(windows.apart() ? part : Vector::load(at) + part, at);
          }
      });
}

} // namespace

namespace {

// Windows of Kernel x Kernel pixels beside each other, all within the image: what nearly every network has.
template<int Kernel>
[[gnu::always_inline]] inline void pool_tiles(const PoolingWindows& windows, const float* images, float* results,
                                              std::uint8_t* winners)
{
  const auto &in = windows.input, &out = windows.output;
  for (std::int64_t channel = 0; channel < out.channels; ++channel)
    for (std::int64_t y = 0; y < out.height; ++y) {
      const float* line = images + (channel * in.height + y * Kernel) * in.width * lanes;
      for (std::int64_t x = 0; x < out.width; ++x, line += Kernel * lanes, results += lanes, winners += lanes) {
        auto largest = Vector::load(line);
        Places winner{};
        for (int place = 1; place < Kernel * Kernel; ++place) {
          const auto value = Vector::load(line + (place / Kernel * in.width + place % Kernel) * lanes);
          winner = value > largest ? Places{} + place : winner;
          largest = value > largest ? value : largest;
        }
        if (windows.rectified) winner = largest > 0 ? winner : Places{} + std::int32_t{no_winner};
        Vector::store(largest, results);
        const auto bytes = __builtin_convertvector(winner, Bytes);
        std::memcpy(winners, &bytes, sizeof bytes);
      }
    }
}

template<int Kernel>
[[gnu::always_inline]] inline void unpool_tiles(const PoolingWindows& windows, const float* gradients,
                                                const std::uint8_t* winners, float* image_gradients)
{
  const auto &in = windows.input, &out = windows.output;
  for (std::int64_t channel = 0; channel < out.channels; ++channel)
    for (std::int64_t y = 0; y < out.height; ++y) {
      float* line = image_gradients + (channel * in.height + y * Kernel) * in.width * lanes;
      for (std::int64_t x = 0; x < out.width; ++x, line += Kernel * lanes, gradients += lanes, winners += lanes) {
        Bytes bytes;
        std::memcpy(&bytes, winners, sizeof bytes);
        const auto winner = __builtin_convertvector(bytes, Places);
        const auto gradient = Vector::load(gradients);
        for (int place = 0; place < Kernel * Kernel; ++place)
          Vector::store(winner == Places{} + place ? gradient : Floats{},
                        line + (place / Kernel * in.width + place % Kernel) * lanes);
      }
    }
}

bool are_tiles(const PoolingWindows& windows, std::int64_t kernel)
{
  return !windows.mean && windows.kernel == kernel && windows.stride == kernel && windows.padding == 0 &&
         windows.output.height * kernel == windows.input.height && windows.output.width * kernel == windows.input.width;
}

} // namespace

DT_CLONES void pool_lanes(const PoolingWindows& windows, const float* images, float* results, std::uint8_t* winners)
{
  if (are_tiles(windows, 2)) return pool_tiles<2>(windows, images, results, winners);
  if (are_tiles(windows, 3)) return pool_tiles<3>(windows, images, results, winners);
  windows.mean ? pool_mean(windows, images, results) : pool_maximum(windows, images, results, winners);
}

DT_CLONES void unpool_lanes(const PoolingWindows& windows, const float* gradients, const std::uint8_t* winners,
                            float* image_gradients)
{
  if (are_tiles(windows, 2)) return unpool_tiles<2>(windows, gradients, winners, image_gradients);
  if (are_tiles(windows, 3)) return unpool_tiles<3>(windows, gradients, winners, image_gradients);
  if (!windows.cover()) std::fill_n(image_gradients, windows.input.size() * lanes, 0.0F);
  spread(windows, gradients, winners, image_gradients);
}

} // namespace dt::nn
