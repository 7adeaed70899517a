#include "engine/nn/kernels/winograd/winograd_tiles.hpp"

#include "engine/nn/kernels/simd_vector.hpp"
#include "engine/nn/kernels/winograd/winograd_transforms.hpp"

#include <algorithm>

namespace dt::nn {
namespace {

// The one-dimensional transforms of Winograd's minimal filtering F(4, 5): 4 results of a window of 5 weights from eight pixels
// with eight products instead of twenty [Lavin2016]. Y = A^T [(G g) . (B^T d)] for weights g, pixels d, results Y.
//
// The points are 0, the pairs p and -p of 1/2, 1 and 2, and infinity. In fp32 the results have 1.6 times the rounding errors of
// the usual F(4, 3) with the points 1 and 2, and 3.6 times those of ours (winograd_transforms.hpp).
//
// Numbers or vectors, `stride` apart, are changed in place. Use the functions only in kernels that are compiled once per
// instruction set; everything here is inlined into them.

struct WideFiltering {
  static constexpr int window = 5, results = 4, side = 8;
  static constexpr int pairs = 3;
  static constexpr float p[pairs] = {0.5F, 1, 2}, p2[pairs] = {0.25F, 1, 4}, p3[pairs] = {0.125F, 1, 8},
                         p4[pairs] = {0.0625F, 1, 16};
  // The polynomial x^6 - one x^4 + two x^2 - three has the zeros p and -p.
  static constexpr float one = p2[0] + p2[1] + p2[2], two = p2[0] * p2[1] + p2[0] * p2[2] + p2[1] * p2[2],
                         three = p2[0] * p2[1] * p2[2];
  // Sum and product of the squares of the two other pairs.
  static constexpr float others_sum[pairs] = {p2[1] + p2[2], p2[0] + p2[2], p2[0] + p2[1]};
  static constexpr float others_product[pairs] = {p2[1] * p2[2], p2[0] * p2[2], p2[0] * p2[1]};
  // Rows of G are divided by the products of the differences of the points.
  static constexpr float of_zero = -1 / three;
  static constexpr float of[pairs] = {1 / (2 * p2[0] * (p2[0] - p2[1]) * (p2[0] - p2[2])),
                                      1 / (2 * p2[1] * (p2[1] - p2[0]) * (p2[1] - p2[2])),
                                      1 / (2 * p2[2] * (p2[2] - p2[0]) * (p2[2] - p2[1]))};

  // B^T d
  template<class T> [[gnu::always_inline]] static inline void pixels_along(T* d, int stride)
  {
    const T d0 = d[0], d1 = d[stride], d2 = d[2 * stride], d3 = d[3 * stride], d4 = d[4 * stride], d5 = d[5 * stride],
            d6 = d[6 * stride], d7 = d[7 * stride];
    d[0] = d6 - one * d4 + two * d2 - three * d0;
    for (int i = 0; i < pairs; ++i) {
      const T even = d6 - others_sum[i] * d4 + others_product[i] * d2;
      const T odd = p[i] * (d5 - others_sum[i] * d3 + others_product[i] * d1);
      d[(2 * i + 1) * stride] = even + odd;
      d[(2 * i + 2) * stride] = even - odd;
    }
    d[7 * stride] = d7 - one * d5 + two * d3 - three * d1;
  }

  // A^T m: the first four of eight become the results.
  template<class T> [[gnu::always_inline]] static inline void results_along(T* m, int stride)
  {
    T y0 = m[0], y1{}, y2{}, y3 = m[7 * stride];
    for (int i = 0; i < pairs; ++i) {
      const T even = m[(2 * i + 1) * stride] + m[(2 * i + 2) * stride], odd = m[(2 * i + 1) * stride] - m[(2 * i + 2) * stride];
      y0 += even, y1 += p[i] * odd, y2 += p2[i] * even, y3 += p3[i] * odd;
    }
    m[0] = y0, m[stride] = y1, m[2 * stride] = y2, m[3 * stride] = y3;
  }

  // A y: the gradients of four results become eight.
  template<class T> [[gnu::always_inline]] static inline void result_gradients_along(T* y, int stride)
  {
    const T y0 = y[0], y1 = y[stride], y2 = y[2 * stride], y3 = y[3 * stride];
    for (int i = 0; i < pairs; ++i) {
      const T even = y0 + p2[i] * y2, odd = p[i] * y1 + p3[i] * y3;
      y[(2 * i + 1) * stride] = even + odd;
      y[(2 * i + 2) * stride] = even - odd;
    }
    y[7 * stride] = y3;
  }

  // G g: five weights become eight.
  template<class T> [[gnu::always_inline]] static inline void windows_along(T* g, int stride)
  {
    const T g0 = g[0], g1 = g[stride], g2 = g[2 * stride], g3 = g[3 * stride], g4 = g[4 * stride];
    g[0] = of_zero * g0;
    for (int i = 0; i < pairs; ++i) {
      const T even = g0 + p2[i] * g2 + p4[i] * g4, odd = p[i] * g1 + p3[i] * g3;
      g[(2 * i + 1) * stride] = of[i] * (even + odd);
      g[(2 * i + 2) * stride] = of[i] * (even - odd);
    }
    g[7 * stride] = g4;
  }

  // G^T m: eight become the gradients of five weights, the first ones.
  template<class T> [[gnu::always_inline]] static inline void window_gradients_along(T* m, int stride)
  {
    T g0 = of_zero * m[0], g1{}, g2{}, g3{}, g4 = m[7 * stride];
    for (int i = 0; i < pairs; ++i) {
      const T even = of[i] * (m[(2 * i + 1) * stride] + m[(2 * i + 2) * stride]),
              odd = of[i] * (m[(2 * i + 1) * stride] - m[(2 * i + 2) * stride]);
      g0 += even, g1 += p[i] * odd, g2 += p2[i] * even, g3 += p3[i] * odd, g4 += p4[i] * even;
    }
    m[0] = g0, m[stride] = g1, m[2 * stride] = g2, m[3 * stride] = g3, m[4 * stride] = g4;
  }
};

constexpr int block = static_cast<int>(block_channels);

// F(4, 3) of winograd_transforms.hpp, with the members of WideFiltering, so that one template computes both.
struct Filtering {
  static constexpr int window = 3, results = winograd_results(window), side = winograd_side;
  template<class T> [[gnu::always_inline]] static inline void pixels_along(T* d, int stride) { dt::nn::pixels_along(d, stride); }
  template<class T> [[gnu::always_inline]] static inline void results_along(T* m, int stride)
  {
    dt::nn::results_along<window>(m, stride);
  }
  template<class T> [[gnu::always_inline]] static inline void result_gradients_along(T* y, int stride)
  {
    dt::nn::result_gradients_along<window>(y, stride);
  }
  template<class T> [[gnu::always_inline]] static inline void windows_along(T* g, int stride)
  {
    dt::nn::windows_along<window>(g, stride);
  }
  template<class T> [[gnu::always_inline]] static inline void window_gradients_along(T* m, int stride)
  {
    dt::nn::window_gradients_along<window>(m, stride);
  }
};

// ---- transforms: of L adjacent channels; F: Filtering or WideFiltering ----

// Asks for the lines that the tile two further along the row will need first: `Size` rows of its columns that this tile and the
// next one do not have. For images that are larger than the caches, transforms took two fifths less time with it. A line outside
// the image does no harm.
template<class F, int L, int Size, bool Writes, class T>
[[gnu::always_inline]] inline void prefetch_tile(const T* plane, const WinogradTile& tile)
{
  constexpr int tiles_ahead = 2, first = tiles_ahead * F::results + Size - F::results;
  constexpr int pixels_in_line = std::max<int>(1, 64 / (L * static_cast<int>(sizeof(T))));
  for (int r = 0; r < Size; ++r)
    for (int c = 0; c < F::results; c += pixels_in_line)
      __builtin_prefetch(plane + ((tile.first_row + r) * tile.width + tile.first_column + first + c) * L, Writes);
}

// Loads a part of the image; what lies outside is zero.
template<class F, int L, int Size, class T>
[[gnu::always_inline]] inline void load_tile(const T* plane, const WinogradTile& tile, typename SimdVector<L>::Floats* to)
{
  const T* first = plane + (tile.first_row * tile.width + tile.first_column) * L;
  const bool inside = tile.first_row >= 0 && tile.first_column >= 0 && tile.first_row + Size <= tile.height &&
                      tile.first_column + Size <= tile.width;
  if (inside) {
    for (int r = 0; r < Size; ++r)
      for (int c = 0; c < Size; ++c) to[r * F::side + c] = SimdVector<L>::load(first + (r * tile.width + c) * L);
    return;
  }
  for (int r = 0; r < Size; ++r)
    for (int c = 0; c < Size; ++c) {
      const auto row = tile.first_row + r, column = tile.first_column + c;
      const bool exists = row >= 0 && row < tile.height && column >= 0 && column < tile.width;
      to[r * F::side + c] = exists ? SimdVector<L>::load(first + (r * tile.width + c) * L) : typename SimdVector<L>::Floats{};
    }
}

template<class F, int L>
[[gnu::always_inline]] inline void store_points(const typename SimdVector<L>::Floats* from, float* to,
                                                std::ptrdiff_t point_stride)
{
  for (int point = 0; point < F::side * F::side; ++point) SimdVector<L>::store(from[point], to + point * point_stride);
}

template<class F, int L, class T>
[[gnu::always_inline]] inline void pixels_of(const T* plane, const WinogradTile& tile, float* to, std::ptrdiff_t point_stride)
{
  constexpr int side = F::side;
  typename SimdVector<L>::Floats d[side * side];
  prefetch_tile<F, L, side, false>(plane, tile);
  load_tile<F, L, side>(plane, tile, d);
  for (int r = 0; r < side; ++r) F::pixels_along(d + r * side, 1);
  for (int c = 0; c < side; ++c) F::pixels_along(d + c, side);
  store_points<F, L>(d, to, point_stride);
}

template<class F, int L, class T>
[[gnu::always_inline]] inline void results_of(const float* points, std::ptrdiff_t point_stride, const float* bias, bool rectify,
                                              const WinogradTile& tile, T* plane)
{
  using Floats = typename SimdVector<L>::Floats;
  constexpr int side = F::side, results = F::results;
  Floats m[side * side];
  prefetch_tile<F, L, results, true>(plane, tile);
  for (int point = 0; point < F::side * F::side; ++point) m[point] = SimdVector<L>::load(points + point * point_stride);
  for (int c = 0; c < side; ++c) F::results_along(m + c, side);
  for (int r = 0; r < results; ++r) F::results_along(m + r * side, 1);
  const auto start = bias ? SimdVector<L>::load(bias) : Floats{};
  const auto rows = std::min<std::int64_t>(results, tile.height - tile.first_row),
             columns = std::min<std::int64_t>(results, tile.width - tile.first_column);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const auto value = m[r * side + c] + start;
      SimdVector<L>::store(rectify ? (value < 0 ? Floats{} : value) : value, // NaN stays
                           plane + ((tile.first_row + r) * tile.width + tile.first_column + c) * L);
    }
}

template<class F, int L, class T>
[[gnu::always_inline]] inline void result_gradients_of(const T* plane, const WinogradTile& tile, float* to,
                                                       std::ptrdiff_t point_stride)
{
  constexpr int side = F::side, results = F::results;
  typename SimdVector<L>::Floats y[side * side];
  prefetch_tile<F, L, results, false>(plane, tile);
  load_tile<F, L, results>(plane, tile, y);
  for (int r = 0; r < results; ++r) F::result_gradients_along(y + r * side, 1);
  for (int c = 0; c < side; ++c) F::result_gradients_along(y + c, side);
  store_points<F, L>(y, to, point_stride);
}

template<class F, int L>
[[gnu::always_inline]] inline void window_points_of(const float* window, std::ptrdiff_t pixel_stride, bool rotated, float* to,
                                                    std::ptrdiff_t point_stride)
{
  constexpr int side = F::side, last = F::window * F::window - 1;
  for (int channel = 0; channel < block; channel += L) {
    typename SimdVector<L>::Floats g[side * side];
    for (int r = 0; r < F::window; ++r)
      for (int c = 0; c < F::window; ++c) {
        const int pixel = r * F::window + c;
        g[r * side + c] = SimdVector<L>::load(window + (rotated ? last - pixel : pixel) * pixel_stride + channel);
      }
    for (int r = 0; r < F::window; ++r) F::windows_along(g + r * side, 1);
    for (int c = 0; c < side; ++c) F::windows_along(g + c, side);
    store_points<F, L>(g, to + channel, point_stride);
  }
}

template<class F, int L>
[[gnu::always_inline]] inline void window_gradient_of(const float* points, std::ptrdiff_t point_stride, float* window,
                                                      std::ptrdiff_t pixel_stride)
{
  constexpr int side = F::side;
  for (int channel = 0; channel < block; channel += L) {
    typename SimdVector<L>::Floats m[side * side];
    for (int point = 0; point < F::side * F::side; ++point)
      m[point] = SimdVector<L>::load(points + point * point_stride + channel);
    for (int c = 0; c < side; ++c) F::window_gradients_along(m + c, side);
    for (int r = 0; r < F::window; ++r) F::window_gradients_along(m + r * side, 1);
    for (int r = 0; r < F::window; ++r)
      for (int c = 0; c < F::window; ++c)
        SimdVector<L>::store(m[r * side + c], window + (r * F::window + c) * pixel_stride + channel);
  }
}

// ---- instruction sets ----

// The transforms compiled for one instruction set, each of `channels` at once: those of a pixel in oneDNN's layout.
template<InstructionSet Set> struct Compiled;

#define DT_COMPILE_FOR(SET, TARGET, CHANNELS)                                                                                    \
  template<> struct Compiled<SET> {                                                                                              \
    static constexpr int channels = CHANNELS;                                                                                    \
    template<class F, class T> TARGET static void pixels(const void* a, const WinogradTile& b, float* c, std::ptrdiff_t d)       \
    {                                                                                                                            \
      pixels_of<F, CHANNELS>(static_cast<const T*>(a), b, c, d);                                                                 \
    }                                                                                                                            \
    template<class F, class T>                                                                                                   \
    TARGET static void results(const float* a, std::ptrdiff_t b, const float* c, bool d, const WinogradTile& e, void* f)         \
    {                                                                                                                            \
      results_of<F, CHANNELS>(a, b, c, d, e, static_cast<T*>(f));                                                                \
    }                                                                                                                            \
    template<class F, class T>                                                                                                   \
    TARGET static void result_gradients(const void* a, const WinogradTile& b, float* c, std::ptrdiff_t d)                        \
    {                                                                                                                            \
      result_gradients_of<F, CHANNELS>(static_cast<const T*>(a), b, c, d);                                                       \
    }                                                                                                                            \
    template<class F> TARGET static void window_points(const float* a, std::ptrdiff_t b, bool c, float* d, std::ptrdiff_t e)     \
    {                                                                                                                            \
      window_points_of<F, CHANNELS>(a, b, c, d, e);                                                                              \
    }                                                                                                                            \
    template<class F> TARGET static void window_gradient(const float* a, std::ptrdiff_t b, float* c, std::ptrdiff_t d)           \
    {                                                                                                                            \
      window_gradient_of<F, CHANNELS>(a, b, c, d);                                                                               \
    }                                                                                                                            \
  }

DT_COMPILE_FOR(InstructionSet::avx512, DT_AVX512, 16);
DT_COMPILE_FOR(InstructionSet::avx2, DT_AVX2, 8);
DT_COMPILE_FOR(InstructionSet::plain, , 8);

#undef DT_COMPILE_FOR

template<class F, class T, InstructionSet Set> const WinogradKernels& kernels_of()
{
  using C = Compiled<Set>;
  static constexpr WinogradKernels kernels{F::side * F::side,
                                           F::results,
                                           C::channels,
                                           C::template pixels<F, T>,
                                           C::template results<F, T>,
                                           C::template result_gradients<F, T>,
                                           C::template window_points<F>,
                                           C::template window_gradient<F>};
  return kernels;
}

template<class F, class T> const WinogradKernels& kernels_of(InstructionSet set)
{
  switch (set) {
  case InstructionSet::avx512:
    return kernels_of<F, T, InstructionSet::avx512>();
  case InstructionSet::avx2:
    return kernels_of<F, T, InstructionSet::avx2>();
  case InstructionSet::plain:
    break;
  }
  return kernels_of<F, T, InstructionSet::plain>();
}

} // namespace

const WinogradKernels& winograd_kernels(std::int64_t window, Precision precision, InstructionSet set)
{
  if (precision == Precision::bf16) return window == 3 ? kernels_of<Filtering, Bf16>(set) : kernels_of<WideFiltering, Bf16>(set);
  return window == 3 ? kernels_of<Filtering, float>(set) : kernels_of<WideFiltering, float>(set);
}

} // namespace dt::nn
