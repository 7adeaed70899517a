#include "engine/nn/kernels/lanes/lane_images.hpp"

#include "engine/nn/kernels/simd_vector.hpp"

#include <algorithm>
#include <cstring>

namespace dt::nn {
namespace {

constexpr int lanes = static_cast<int>(image_lanes);

// Exchanges the halves of pairs of vectors that are `distance` apart: one of the stages of an L x L transposition.
template<int L, int distance> [[gnu::always_inline]] inline void exchange(typename SimdVector<L>::Floats* rows)
{
  typename SimdVector<L>::Places low, high; // lanes of the two vectors, the second one's counted from L
  for (int i = 0; i < L; ++i) {
    low[i] = i & distance ? L + (i ^ distance) : i;
    high[i] = i & distance ? L + i : i ^ distance;
  }
  for (int i = 0; i < L; ++i) {
    if (i & distance) continue;
    const auto a = rows[i], b = rows[i + distance];
    rows[i] = __builtin_shuffle(a, b, low);
    rows[i + distance] = __builtin_shuffle(a, b, high);
  }
}

template<int L> [[gnu::always_inline]] inline void transpose(typename SimdVector<L>::Floats* rows)
{
  exchange<L, 1>(rows);
  exchange<L, 2>(rows);
  if constexpr (L > 4) exchange<L, 4>(rows);
  if constexpr (L > 8) exchange<L, 8>(rows);
}

template<int L> [[gnu::always_inline]] inline typename SimdVector<L>::Floats load_first(const float* from, std::int64_t count)
{
  typename SimdVector<L>::Floats values{};
  std::memcpy(&values, from, static_cast<std::size_t>(count) * sizeof(float));
  return values;
}

// Blocks of L x L numbers. The last block of a row ends where the row ends, and repeats columns of the one before.
template<int L>
[[gnu::always_inline]] inline void to_lanes(const float* plain, std::int64_t rows, std::int64_t row_stride, std::int64_t columns,
                                            float* transposed)
{
  using Vector = SimdVector<L>;
  for (std::int64_t next = 0; next < columns; next += L) {
    const auto column = std::max<std::int64_t>(std::min(next, columns - L), 0);
    const auto width = std::min<std::int64_t>(L, columns - column);
    for (std::int64_t lane = 0; lane < lanes; lane += L) {
      typename Vector::Floats block[L];
      for (std::int64_t row = 0; row < L; ++row) {
        const float* from = plain + (lane + row) * row_stride + column;
        if (lane + row >= rows)
          block[row] = typename Vector::Floats{};
        else
          block[row] = width == L ? Vector::load(from) : load_first<L>(from, width);
      }
      transpose<L>(block);
      for (std::int64_t i = 0; i < width; ++i) Vector::store(block[i], transposed + (column + i) * lanes + lane);
    }
  }
}

template<int L>
[[gnu::always_inline]] inline void from_lanes(const float* from, std::int64_t columns, std::int64_t row_stride, float* plain)
{
  using Vector = SimdVector<L>;
  const auto padded_columns = (columns + lanes - 1) / lanes * lanes;
  for (std::int64_t column = 0; column < padded_columns; column += L)
    for (std::int64_t lane = 0; lane < lanes; lane += L) {
      typename Vector::Floats block[L];
      for (std::int64_t i = 0; i < L; ++i) {
        if (column + i < columns)
          block[i] = Vector::load(from + (column + i) * lanes + lane);
        else
          block[i] = typename Vector::Floats{};
      }
      transpose<L>(block);
      for (std::int64_t row = 0; row < L; ++row) Vector::store(block[row], plain + (lane + row) * row_stride + column);
    }
}

} // namespace

void transpose_to_lanes(InstructionSet set, const float* plain, std::int64_t rows, std::int64_t row_stride, std::int64_t columns,
                        float* transposed)
{
  with_vectors_of(
      set, [&](auto l) __attribute__((always_inline)) { to_lanes<l()>(plain, rows, row_stride, columns, transposed); });
}

void transpose_from_lanes(InstructionSet set, const float* from, std::int64_t columns, std::int64_t row_stride, float* plain)
{
  with_vectors_of(
      set, [&](auto l) __attribute__((always_inline)) { from_lanes<l()>(from, columns, row_stride, plain); });
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

void pad_plain_images(InstructionSet set, const float* images, std::int64_t count, const Shape& shape, std::int64_t border,
                      float* padded)
{
  const auto plane = (shape.height + 2 * border) * (shape.width + 2 * border) * lanes;
  for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
    const float* from = images + channel * shape.height * shape.width;
    if (border == 0) {
      transpose_to_lanes(set, from, count, shape.size(), shape.height * shape.width, padded + channel * plane);
      continue;
    }
    fill_padded(shape, border, padded + channel * plane, [&](std::int64_t row, float* line) {
      transpose_to_lanes(set, from + row * shape.width, count, shape.size(), shape.width, line);
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

// The places of pixels in their windows, of sixteen images.
template<int L> using SixteenPlaces = typename SimdVector<L>::Places[lanes / L];

// Stores them as bytes. With eight lanes by a shuffle, because GCC 12 converts such vectors number by number.
template<int L> [[gnu::always_inline]] inline void store_places(const SixteenPlaces<L>& places, std::uint8_t* to)
{
  if constexpr (L == 8) {
    typedef std::uint8_t AllBytes __attribute__((vector_size(32)));
    AllBytes lowest; // every fourth byte of both vectors
    for (int i = 0; i < 32; ++i) lowest[i] = static_cast<std::uint8_t>(4 * (i % lanes));
    const auto bytes = __builtin_shuffle(reinterpret_cast<AllBytes>(places[0]), reinterpret_cast<AllBytes>(places[1]), lowest);
    std::memcpy(to, &bytes, lanes);
  } else {
    for (int part = 0; part < lanes / L; ++part) {
      const auto bytes = __builtin_convertvector(places[part], typename SimdVector<L>::Bytes);
      std::memcpy(to + part * L, &bytes, sizeof bytes);
    }
  }
}

// L of sixteen bytes, from `lane` on.
template<int L>
[[gnu::always_inline]] inline typename SimdVector<L>::Places load_places(const std::uint8_t* from, std::int64_t lane)
{
  if constexpr (L == 8) {
    typedef std::uint8_t AllBytes __attribute__((vector_size(32)));
    typedef std::uint64_t Eights __attribute__((vector_size(32)));
    std::uint64_t eight;
    std::memcpy(&eight, from + lane, sizeof eight);
    Eights repeated;
    AllBytes bytes_of; // four times the same byte, within the halves of the vector
    for (int i = 0; i < 4; ++i) repeated[i] = eight;
    for (int i = 0; i < 32; ++i) bytes_of[i] = static_cast<std::uint8_t>(i / 4 + i / 16 * 16);
    return reinterpret_cast<typename SimdVector<L>::Places>(__builtin_shuffle(reinterpret_cast<AllBytes>(repeated), bytes_of)) &
           255;
  } else {
    typename SimdVector<L>::Bytes bytes;
    std::memcpy(&bytes, from + lane, sizeof bytes);
    return __builtin_convertvector(bytes, typename SimdVector<L>::Places);
  }
}

template<int L> [[gnu::always_inline]] inline typename SimdVector<L>::Places places_of(std::int64_t place)
{
  typename SimdVector<L>::Places places;
  for (int lane = 0; lane < L; ++lane) places[lane] = static_cast<std::int32_t>(place);
  return places;
}

template<int L>
[[gnu::always_inline]] inline void pool_maximum(const PoolingWindows& windows, const float* images, float* results,
                                                std::uint8_t* winners)
{
  using Vector = SimdVector<L>;
  const auto& in = windows.input;
  for_windows(
      windows, [&](auto channel, auto pixel, auto wy, auto wx, Clipped rows, Clipped columns) __attribute__((always_inline)) {
        SixteenPlaces<L> winner_of;
        for (int lane = 0; lane < lanes; lane += L) {
          const float* plane = images + channel * in.height * in.width * lanes + lane;
          const float* first = plane + (rows.begin * in.width + columns.begin) * lanes;
          auto largest = Vector::load(first); // not minus infinity: a NaN stays
          auto winner = places_of<L>(place_in_window(windows, wy, wx, rows.begin, columns.begin));
          for (auto row = rows.begin; row < rows.end; ++row)
            for (auto column = columns.begin; column < columns.end; ++column) {
              const auto value = Vector::load(plane + (row * in.width + column) * lanes);
              const auto larger = value > largest;
              largest = larger ? value : largest;
              winner = larger ? places_of<L>(place_in_window(windows, wy, wx, row, column)) : winner;
            }
          if (windows.rectified) winner = largest > 0 ? winner : places_of<L>(no_winner);
          Vector::store(largest, results + pixel * lanes + lane);
          winner_of[lane / L] = winner;
        }
        store_places<L>(winner_of, winners + pixel * lanes);
      });
}

template<int L> [[gnu::always_inline]] inline void pool_mean(const PoolingWindows& windows, const float* images, float* results)
{
  using Vector = SimdVector<L>;
  const auto& in = windows.input;
  for_windows(
      windows, [&](auto channel, auto pixel, auto, auto, Clipped rows, Clipped columns) __attribute__((always_inline)) {
        for (std::int64_t lane = 0; lane < lanes; lane += L) {
          const float* plane = images + channel * in.height * in.width * lanes + lane;
          typename Vector::Floats sum{};
          for (auto row = rows.begin; row < rows.end; ++row)
            for (auto column = columns.begin; column < columns.end; ++column)
              sum += Vector::load(plane + (row * in.width + column) * lanes);
          const auto pixels = static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
          Vector::store(sum * (1 / pixels), results + pixel * lanes + lane);
        }
      });
}

// Adds to each pixel of a window its part of the window's gradient.
template<int L>
[[gnu::always_inline]] inline void spread(const PoolingWindows& windows, const float* gradients, const std::uint8_t* winners,
                                          float* image_gradients)
{
  using Vector = SimdVector<L>;
  using Floats = typename Vector::Floats;
  const auto& in = windows.input;
  for_windows(
      windows, [&](auto channel, auto pixel, auto wy, auto wx, Clipped rows, Clipped columns) __attribute__((always_inline)) {
        for (std::int64_t lane = 0; lane < lanes; lane += L) {
          float* plane = image_gradients + channel * in.height * in.width * lanes + lane;
          auto gradient = Vector::load(gradients + pixel * lanes + lane);
          typename Vector::Places winner{};
          if (windows.mean)
            gradient *= 1 / static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
          else
            winner = load_places<L>(winners + pixel * lanes, lane);
          for (auto row = rows.begin; row < rows.end; ++row)
            for (auto column = columns.begin; column < columns.end; ++column) {
              float* at = plane + (row * in.width + column) * lanes;
              const auto place = places_of<L>(place_in_window(windows, wy, wx, row, column));
              const auto part = windows.mean ? gradient : winner == place ? gradient : Floats{};
              Vector::store(windows.apart() ? part : Vector::load(at) + part, at);
            }
        }
      });
}

// Windows of Kernel x Kernel pixels beside each other, all within the image: what nearly every network has.
template<int Kernel, int L>
[[gnu::always_inline]] inline void pool_tiles(const PoolingWindows& windows, const float* images, float* results,
                                              std::uint8_t* winners)
{
  using Vector = SimdVector<L>;
  const auto in = windows.input, out = windows.output;
  const bool rectified = windows.rectified;
  for (std::int64_t row = 0; row < out.channels * out.height; ++row) {
    const float* line = images + row * Kernel * in.width * lanes;
    for (std::int64_t x = 0; x < out.width; ++x, line += Kernel * lanes, results += lanes, winners += lanes) {
      SixteenPlaces<L> winner_of;
      for (int lane = 0; lane < lanes; lane += L) {
        auto largest = Vector::load(line + lane);
        auto winner = places_of<L>(0);
        for (int place = 1; place < Kernel * Kernel; ++place) {
          const auto value = Vector::load(line + (place / Kernel * in.width + place % Kernel) * lanes + lane);
          const auto larger = value > largest;
          winner = larger ? places_of<L>(place) : winner;
          largest = larger ? value : largest;
        }
        if (rectified) winner = largest > 0 ? winner : places_of<L>(no_winner);
        Vector::store(largest, results + lane);
        winner_of[lane / L] = winner;
      }
      store_places<L>(winner_of, winners);
    }
  }
}

template<int Kernel, int L>
[[gnu::always_inline]] inline void unpool_tiles(const PoolingWindows& windows, const float* gradients,
                                                const std::uint8_t* winners, float* image_gradients)
{
  using Vector = SimdVector<L>;
  const auto in = windows.input, out = windows.output;
  for (std::int64_t row = 0; row < out.channels * out.height; ++row) {
    float* line = image_gradients + row * Kernel * in.width * lanes;
    for (std::int64_t x = 0; x < out.width; ++x, line += Kernel * lanes, gradients += lanes, winners += lanes)
      for (std::int64_t lane = 0; lane < lanes; lane += L) {
        const auto winner = load_places<L>(winners, lane);
        const auto gradient = Vector::load(gradients + lane);
        for (int place = 0; place < Kernel * Kernel; ++place)
          Vector::store(winner == places_of<L>(place) ? gradient : typename Vector::Floats{},
                        line + (place / Kernel * in.width + place % Kernel) * lanes + lane);
      }
  }
}

bool are_tiles(const PoolingWindows& windows, std::int64_t kernel)
{
  return !windows.mean && windows.kernel == kernel && windows.stride == kernel && windows.padding == 0 &&
         windows.output.height * kernel == windows.input.height && windows.output.width * kernel == windows.input.width;
}

} // namespace

void pool_lanes(InstructionSet set, const PoolingWindows& windows, const float* images, float* results, std::uint8_t* winners)
{
  const bool two = are_tiles(windows, 2), three = are_tiles(windows, 3);
  with_vectors_of(
      set, [&](auto l) __attribute__((always_inline)) {
        if (two) return pool_tiles<2, l()>(windows, images, results, winners);
        if (three) return pool_tiles<3, l()>(windows, images, results, winners);
        windows.mean ? pool_mean<l()>(windows, images, results) : pool_maximum<l()>(windows, images, results, winners);
      });
}

void unpool_lanes(InstructionSet set, const PoolingWindows& windows, const float* gradients, const std::uint8_t* winners,
                  float* image_gradients)
{
  const bool two = are_tiles(windows, 2), three = are_tiles(windows, 3);
  if (!two && !three && !windows.cover()) std::fill_n(image_gradients, windows.input.size() * lanes, 0.0F);
  with_vectors_of(
      set, [&](auto l) __attribute__((always_inline)) {
        if (two) return unpool_tiles<2, l()>(windows, gradients, winners, image_gradients);
        if (three) return unpool_tiles<3, l()>(windows, gradients, winners, image_gradients);
        spread<l()>(windows, gradients, winners, image_gradients);
      });
}

float sum_of_winners(InstructionSet set, const float* gradients, const std::uint8_t* winners, std::int64_t count)
{
  float total = 0;
  with_vectors_of(
      set, [&](auto l) __attribute__((always_inline)) {
        using Vector = SimdVector<l()>;
        typename Vector::Floats sums[lanes / l()];
        for (auto& sum : sums) sum = typename Vector::Floats{};
        for (std::int64_t i = 0; i < count * lanes; i += lanes)
          for (int lane = 0; lane < lanes; lane += l()) {
            const auto none = load_places<l()>(winners + i, lane) == places_of<l()>(no_winner);
            sums[lane / l()] += none ? typename Vector::Floats{} : Vector::load(gradients + i + lane);
          }
        for (const auto& sum : sums)
          for (int lane = 0; lane < l(); ++lane) total += sum[lane];
      });
  return total;
}

} // namespace dt::nn
