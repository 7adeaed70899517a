#include "engine/nn/kernels/winograd_tiles.hpp"

#include "engine/nn/kernels/lanes.hpp"

#include <algorithm>

namespace dt::nn {
namespace {

constexpr int side = winograd_side, block = static_cast<int>(block_channels);

// ---- transforms: of L adjacent channels ----

// Loads a part of the image; what lies outside is zero.
template<int L, int Size, class T>
[[gnu::always_inline]] inline void load_tile(const T* plane, const WinogradTile& tile, typename Lanes<L>::Floats* to)
{
  const T* first = plane + (tile.first_row * tile.width + tile.first_column) * L;
  const bool inside = tile.first_row >= 0 && tile.first_column >= 0 && tile.first_row + Size <= tile.height &&
                      tile.first_column + Size <= tile.width;
  if (inside) {
    for (int r = 0; r < Size; ++r)
      for (int c = 0; c < Size; ++c) to[r * side + c] = Lanes<L>::load(first + (r * tile.width + c) * L);
    return;
  }
  for (int r = 0; r < Size; ++r)
    for (int c = 0; c < Size; ++c) {
      const auto row = tile.first_row + r, column = tile.first_column + c;
      const bool exists = row >= 0 && row < tile.height && column >= 0 && column < tile.width;
      to[r * side + c] = exists ? Lanes<L>::load(first + (r * tile.width + c) * L) : typename Lanes<L>::Floats{};
    }
}

template<int L>
[[gnu::always_inline]] inline void store_points(const typename Lanes<L>::Floats* from, float* to, std::ptrdiff_t point_stride)
{
  for (int point = 0; point < side * side; ++point) Lanes<L>::store(from[point], to + point * point_stride);
}

template<int L, class T>
[[gnu::always_inline]] inline void pixels_of(const T* plane, const WinogradTile& tile, float* to, std::ptrdiff_t point_stride)
{
  typename Lanes<L>::Floats d[side * side];
  load_tile<L, side>(plane, tile, d);
  for (int r = 0; r < side; ++r) pixels_along(d + r * side, 1);
  for (int c = 0; c < side; ++c) pixels_along(d + c, side);
  store_points<L>(d, to, point_stride);
}

template<int Window, int L, class T>
[[gnu::always_inline]] inline void results_of(const float* points, std::ptrdiff_t point_stride, const float* bias, bool rectify,
                                              const WinogradTile& tile, T* plane)
{
  using Floats = typename Lanes<L>::Floats;
  constexpr int results = winograd_results(Window);
  Floats m[side * side];
  for (int point = 0; point < side * side; ++point) m[point] = Lanes<L>::load(points + point * point_stride);
  for (int c = 0; c < side; ++c) results_along<Window>(m + c, side);
  for (int r = 0; r < results; ++r) results_along<Window>(m + r * side, 1);
  const auto start = bias ? Lanes<L>::load(bias) : Floats{};
  const auto rows = std::min<std::int64_t>(results, tile.height - tile.first_row),
             columns = std::min<std::int64_t>(results, tile.width - tile.first_column);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const auto value = m[r * side + c] + start;
      Lanes<L>::store(rectify ? (value < 0 ? Floats{} : value) : value, // NaN stays
                      plane + ((tile.first_row + r) * tile.width + tile.first_column + c) * L);
    }
}

template<int Window, int L, class T>
[[gnu::always_inline]] inline void result_gradients_of(const T* plane, const WinogradTile& tile, float* to,
                                                       std::ptrdiff_t point_stride)
{
  constexpr int results = winograd_results(Window);
  typename Lanes<L>::Floats y[side * side];
  load_tile<L, results>(plane, tile, y);
  for (int r = 0; r < results; ++r) result_gradients_along<Window>(y + r * side, 1);
  for (int c = 0; c < side; ++c) result_gradients_along<Window>(y + c, side);
  store_points<L>(y, to, point_stride);
}

template<int Window, int L>
[[gnu::always_inline]] inline void window_points_of(const float* window, std::ptrdiff_t pixel_stride, bool rotated, float* to,
                                                    std::ptrdiff_t point_stride)
{
  constexpr int last = Window * Window - 1;
  for (int lane = 0; lane < block; lane += L) {
    typename Lanes<L>::Floats g[side * side];
    for (int r = 0; r < Window; ++r)
      for (int c = 0; c < Window; ++c) {
        const int pixel = r * Window + c;
        g[r * side + c] = Lanes<L>::load(window + (rotated ? last - pixel : pixel) * pixel_stride + lane);
      }
    for (int r = 0; r < Window; ++r) windows_along<Window>(g + r * side, 1);
    for (int c = 0; c < side; ++c) windows_along<Window>(g + c, side);
    store_points<L>(g, to + lane, point_stride);
  }
}

template<int Window, int L>
[[gnu::always_inline]] inline void window_gradient_of(const float* points, std::ptrdiff_t point_stride, float* window,
                                                      std::ptrdiff_t pixel_stride)
{
  for (int lane = 0; lane < block; lane += L) {
    typename Lanes<L>::Floats m[side * side];
    for (int point = 0; point < side * side; ++point) m[point] = Lanes<L>::load(points + point * point_stride + lane);
    for (int c = 0; c < side; ++c) window_gradients_along<Window>(m + c, side);
    for (int r = 0; r < Window; ++r) window_gradients_along<Window>(m + r * side, 1);
    for (int r = 0; r < Window; ++r)
      for (int c = 0; c < Window; ++c) Lanes<L>::store(m[r * side + c], window + (r * Window + c) * pixel_stride + lane);
  }
}

// ---- instruction sets ----

// The transforms compiled for one instruction set, each of `channels` at once: those of a pixel in oneDNN's layout.
template<InstructionSet Set> struct Compiled;

#define DT_COMPILE_FOR(SET, TARGET, CHANNELS)                                                                                    \
  template<> struct Compiled<SET> {                                                                                              \
    static constexpr int channels = CHANNELS;                                                                                    \
    template<class T> TARGET static void pixels(const void* a, const WinogradTile& b, float* c, std::ptrdiff_t d)                \
    {                                                                                                                            \
      pixels_of<CHANNELS>(static_cast<const T*>(a), b, c, d);                                                                    \
    }                                                                                                                            \
    template<int Window, class T>                                                                                                \
    TARGET static void results(const float* a, std::ptrdiff_t b, const float* c, bool d, const WinogradTile& e, void* f)         \
    {                                                                                                                            \
      results_of<Window, CHANNELS>(a, b, c, d, e, static_cast<T*>(f));                                                           \
    }                                                                                                                            \
    template<int Window, class T>                                                                                                \
    TARGET static void result_gradients(const void* a, const WinogradTile& b, float* c, std::ptrdiff_t d)                        \
    {                                                                                                                            \
      result_gradients_of<Window, CHANNELS>(static_cast<const T*>(a), b, c, d);                                                  \
    }                                                                                                                            \
    template<int Window> TARGET static void window_points(const float* a, std::ptrdiff_t b, bool c, float* d, std::ptrdiff_t e)  \
    {                                                                                                                            \
      window_points_of<Window, CHANNELS>(a, b, c, d, e);                                                                         \
    }                                                                                                                            \
    template<int Window> TARGET static void window_gradient(const float* a, std::ptrdiff_t b, float* c, std::ptrdiff_t d)        \
    {                                                                                                                            \
      window_gradient_of<Window, CHANNELS>(a, b, c, d);                                                                          \
    }                                                                                                                            \
  }

DT_COMPILE_FOR(InstructionSet::avx512, DT_AVX512, 16);
DT_COMPILE_FOR(InstructionSet::avx2, DT_AVX2, 8);
DT_COMPILE_FOR(InstructionSet::plain, , 8);

#undef DT_COMPILE_FOR

template<int Window, class T, InstructionSet Set> const WinogradKernels& kernels_of()
{
  using C = Compiled<Set>;
  static constexpr WinogradKernels kernels{C::channels,
                                           C::template pixels<T>,
                                           C::template results<Window, T>,
                                           C::template result_gradients<Window, T>,
                                           C::template window_points<Window>,
                                           C::template window_gradient<Window>};
  return kernels;
}

template<int Window, class T> const WinogradKernels& kernels_of(InstructionSet set)
{
  switch (set) {
  case InstructionSet::avx512:
    return kernels_of<Window, T, InstructionSet::avx512>();
  case InstructionSet::avx2:
    return kernels_of<Window, T, InstructionSet::avx2>();
  case InstructionSet::plain:
    break;
  }
  return kernels_of<Window, T, InstructionSet::plain>();
}

} // namespace

const WinogradKernels& winograd_kernels(std::int64_t window, Precision precision, InstructionSet set)
{
  if (precision == Precision::bf16) return window == 3 ? kernels_of<3, Bf16>(set) : kernels_of<5, Bf16>(set);
  return window == 3 ? kernels_of<3, float>(set) : kernels_of<5, float>(set);
}

} // namespace dt::nn
