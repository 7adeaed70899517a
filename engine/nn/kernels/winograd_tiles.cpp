#include "engine/nn/kernels/winograd_tiles.hpp"

#include "core/function_clones.hpp"
#include "engine/nn/kernels/lanes.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace dt::nn {
namespace {

constexpr int side = winograd_side, block = static_cast<int>(winograd_block);

// ---- transforms: of L adjacent channels ----

// Loads a part of the image; what lies outside is zero.
template<int L, int Size>
[[gnu::always_inline]] inline void load_tile(const float* plane, const WinogradTile& tile, typename Lanes<L>::Floats* to)
{
  const float* first = plane + (tile.first_row * tile.width + tile.first_column) * L;
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

template<int L>
[[gnu::always_inline]] inline void pixels_of(const float* plane, const WinogradTile& tile, float* to, std::ptrdiff_t point_stride)
{
  typename Lanes<L>::Floats d[side * side];
  load_tile<L, side>(plane, tile, d);
  for (int r = 0; r < side; ++r) pixels_along(d + r * side, 1);
  for (int c = 0; c < side; ++c) pixels_along(d + c, side);
  store_points<L>(d, to, point_stride);
}

template<int Window, int L>
[[gnu::always_inline]] inline void results_of(const float* points, std::ptrdiff_t point_stride, const float* bias, bool rectify,
                                              const WinogradTile& tile, float* plane)
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

template<int Window, int L>
[[gnu::always_inline]] inline void result_gradients_of(const float* plane, const WinogradTile& tile, float* to,
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

// ---- products: a tile of Rows x 16 sums in registers ----

// One step: sums[r] += scalars[r * row_stride] * vector.
template<int L, int Rows>
[[gnu::always_inline]] inline void add_products(typename Lanes<L>::Floats (&sums)[Rows][block / L], const float* scalars,
                                                std::ptrdiff_t row_stride, const float* vector)
{
  typename Lanes<L>::Floats values[block / L];
  for (int v = 0; v < block / L; ++v) values[v] = Lanes<L>::load(vector + v * L);
  for (int r = 0; r < Rows; ++r) {
    const float factor = scalars[r * row_stride];
    for (int v = 0; v < block / L; ++v) sums[r][v] += factor * values[v];
  }
}

template<int L, int Rows>
[[gnu::always_inline]] inline void store_sums(const typename Lanes<L>::Floats (&sums)[Rows][block / L], float* results)
{
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < block / L; ++v) Lanes<L>::store(sums[r][v], results + r * block + v * L);
}

template<int L, int Rows>
[[gnu::always_inline]] inline void point_products_of(const PointProducts& shape, const float* scalars, const float* vectors,
                                                     float* results)
{
  typename Lanes<L>::Floats sums[Rows][block / L];
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < block / L; ++v) sums[r][v] = typename Lanes<L>::Floats{};
  for (std::int64_t o = 0; o < shape.outer; ++o, scalars += shape.scalar_stride, vectors += block * block)
#pragma GCC unroll 16
    for (int i = 0; i < block; ++i) add_products<L, Rows>(sums, scalars + i, block, vectors + i * block);
  store_sums<L, Rows>(sums, results);
}

template<int L, int Rows>
[[gnu::always_inline]] inline void tile_products_of(const TileProducts& shape, const float* scalars, const float* vectors,
                                                    float* results)
{
  using Floats = typename Lanes<L>::Floats;
  Floats sums[Rows][block / L];
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < block / L; ++v)
      sums[r][v] = shape.accumulate ? Lanes<L>::load(results + r * block + v * L) : Floats{};
#pragma GCC unroll 4
  for (std::int64_t t = 0; t < shape.tiles; ++t) add_products<L, Rows>(sums, scalars + t * block, 1, vectors + t * block);
  store_sums<L, Rows>(sums, results);
}

// ---- instruction sets ----

// The kernels compiled for one instruction set. `lanes`: of a vector in products; `channels`: that a transform computes together;
// `rows`: of sums that fit into the registers together with what is multiplied.
template<InstructionSet Set> struct Compiled;

#define DT_COMPILE_FOR(SET, TARGET, LANES, CHANNELS, ROWS)                                                                       \
  template<> struct Compiled<SET> {                                                                                              \
    static constexpr int lanes = LANES, channels = CHANNELS, rows = ROWS;                                                        \
    TARGET static void pixels(const float* a, const WinogradTile& b, float* c, std::ptrdiff_t d)                                 \
    {                                                                                                                            \
      pixels_of<CHANNELS>(a, b, c, d);                                                                                           \
    }                                                                                                                            \
    template<int Window>                                                                                                         \
    TARGET static void results(const float* a, std::ptrdiff_t b, const float* c, bool d, const WinogradTile& e, float* f)        \
    {                                                                                                                            \
      results_of<Window, CHANNELS>(a, b, c, d, e, f);                                                                            \
    }                                                                                                                            \
    template<int Window>                                                                                                         \
    TARGET static void result_gradients(const float* a, const WinogradTile& b, float* c, std::ptrdiff_t d)                       \
    {                                                                                                                            \
      result_gradients_of<Window, CHANNELS>(a, b, c, d);                                                                         \
    }                                                                                                                            \
    template<int Window>                                                                                                         \
    TARGET static void window_points(const float* a, std::ptrdiff_t b, bool c, float* d, std::ptrdiff_t e)                       \
    {                                                                                                                            \
      window_points_of<Window, CHANNELS>(a, b, c, d, e);                                                                         \
    }                                                                                                                            \
    template<int Window> TARGET static void window_gradient(const float* a, std::ptrdiff_t b, float* c, std::ptrdiff_t d)        \
    {                                                                                                                            \
      window_gradient_of<Window, CHANNELS>(a, b, c, d);                                                                          \
    }                                                                                                                            \
    template<int Rows> TARGET static void point_products(const PointProducts& a, const float* b, const float* c, float* d)       \
    {                                                                                                                            \
      point_products_of<LANES, Rows>(a, b, c, d);                                                                                \
    }                                                                                                                            \
    template<int Rows> TARGET static void tile_products(const TileProducts& a, const float* b, const float* c, float* d)         \
    {                                                                                                                            \
      tile_products_of<LANES, Rows>(a, b, c, d);                                                                                 \
    }                                                                                                                            \
  }

DT_COMPILE_FOR(InstructionSet::avx512, DT_AVX512, 16, 16, 14);
DT_COMPILE_FOR(InstructionSet::avx2, DT_AVX2, 8, 8, 6);
DT_COMPILE_FOR(InstructionSet::plain, , 4, 8, 3);

#undef DT_COMPILE_FOR

// Calls f(begin, size) for parts of [0, count) that have at most `most` numbers and are as equal as possible: a rest of one row
// would be computed with one register.
template<class F> void for_parts(std::int64_t count, std::int64_t most, const F& f)
{
  const auto parts = (count + most - 1) / most;
  for (std::int64_t part = 0, begin = 0; part < parts; ++part) {
    const auto end = count * (part + 1) / parts;
    f(begin, end - begin);
    begin = end;
  }
}

// Kernels by their number of rows, from 1 on.
template<InstructionSet Set, std::size_t... I> constexpr auto point_tiles(std::index_sequence<I...>)
{
  return std::array{&Compiled<Set>::template point_products<static_cast<int>(I) + 1>...};
}

template<InstructionSet Set, std::size_t... I> constexpr auto sum_tiles(std::index_sequence<I...>)
{
  return std::array{&Compiled<Set>::template tile_products<static_cast<int>(I) + 1>...};
}

template<InstructionSet Set>
void point_products(const PointProducts& shape, const float* scalars, const float* vectors, float* results)
{
  constexpr auto most = Compiled<Set>::rows;
  static constexpr auto tiles = point_tiles<Set>(std::make_index_sequence<most>());
  for_parts(shape.rows, most, [&](std::int64_t first, std::int64_t rows) {
    tiles[static_cast<std::size_t>(rows - 1)](shape, scalars + first * block, vectors, results + first * block);
  });
}

// Parts of the tiles whose scalars and vectors stay in the first cache while all rows are computed.
template<InstructionSet Set>
void tile_products(const TileProducts& shape, const float* scalars, const float* vectors, float* results)
{
  constexpr auto most = Compiled<Set>::rows;
  constexpr std::int64_t tiles_at_once = 128;
  static constexpr auto tiles = sum_tiles<Set>(std::make_index_sequence<most>());
  for (std::int64_t first_tile = 0; first_tile < shape.tiles; first_tile += tiles_at_once) {
    const TileProducts part{std::min(tiles_at_once, shape.tiles - first_tile), shape.accumulate || first_tile > 0};
    for_parts(block, most, [&](std::int64_t first, std::int64_t rows) {
      tiles[static_cast<std::size_t>(rows - 1)](part, scalars + first_tile * block + first, vectors + first_tile * block,
                                                results + first * block);
    });
  }
}

template<int Window, InstructionSet Set> const WinogradKernels& kernels_of()
{
  using C = Compiled<Set>;
  static constexpr WinogradKernels kernels{C::channels,
                                           C::pixels,
                                           C::template results<Window>,
                                           C::template result_gradients<Window>,
                                           C::template window_points<Window>,
                                           C::template window_gradient<Window>,
                                           point_products<Set>,
                                           tile_products<Set>};
  return kernels;
}

template<int Window> const WinogradKernels& kernels_of(InstructionSet set)
{
  switch (set) {
  case InstructionSet::avx512:
    return kernels_of<Window, InstructionSet::avx512>();
  case InstructionSet::avx2:
    return kernels_of<Window, InstructionSet::avx2>();
  case InstructionSet::plain:
    break;
  }
  return kernels_of<Window, InstructionSet::plain>();
}

template<int L> [[gnu::always_inline]] inline void add_pixels_of(const float* pixels, std::int64_t count, float* sums)
{
  auto sum = Lanes<L>::load(sums);
  for (std::int64_t pixel = 0; pixel < count; ++pixel) sum += Lanes<L>::load(pixels + pixel * L);
  Lanes<L>::store(sum, sums);
}

} // namespace

const WinogradKernels& winograd_kernels(std::int64_t window, InstructionSet set)
{
  return window == 3 ? kernels_of<3>(set) : kernels_of<5>(set);
}

DT_CLONES void add_pixels(const float* pixels, std::int64_t count, std::int64_t lanes, float* sums)
{
  return lanes == block ? add_pixels_of<block>(pixels, count, sums) : add_pixels_of<8>(pixels, count, sums);
}

} // namespace dt::nn
