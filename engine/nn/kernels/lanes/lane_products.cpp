#include "engine/nn/kernels/lanes/lane_products.hpp"

#include "engine/nn/kernels/parts.hpp"
#include "engine/nn/kernels/simd_vector.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace dt::nn {
namespace {

// The arguments of lane_products that are equal for all tiles.
struct Product {
  const std::int32_t *vector_of, *scalar_of;
  std::int64_t terms;
  ProductShape shape;
  float least; // of a result: 0 after a ReLU
};

// Keeps a loaded vector in a register. GCC 12 otherwise loads it again for every multiplication, and the loads take more time
// than the multiplications.
template<class Floats> [[gnu::always_inline]] inline void keep(Floats& values)
{
#if defined(__x86_64__)
  asm("" : "+v"(values));
#endif
}

// `tiles` tiles of Outputs x Positions sums in registers, beside each other. A sum is Parts registers of L lanes; what is left of
// the sixteen lanes is computed after it.
template<int L, int Parts, int Outputs, int Positions>
[[gnu::always_inline]] inline void product_tiles_of(const Product& product, int tiles, const float* vectors, const float* scalars,
                                                    const float* start, float* results)
{
  using Vector = SimdVector<L>;
  using Floats = typename Vector::Floats;
  const auto [outputs, positions, scalar_stride, vector_stride, output_stride, position_stride] = product.shape;
  for (int tile = 0; tile < tiles; ++tile, vectors += Positions * vector_stride, results += Positions * position_stride)
    for (std::int64_t lane = 0; lane < image_lanes; lane += L * Parts) {
      Floats sums[Outputs][Positions * Parts];
      for (int o = 0; o < Outputs; ++o)
        for (int p = 0; p < Positions * Parts; ++p) sums[o][p] = Floats{};
      const float* scalars_of[Outputs];
      for (int o = 0; o < Outputs; ++o) scalars_of[o] = scalars + o * scalar_stride;
#pragma GCC unroll 1 // unrolled, it needs more registers than there are
      for (std::int64_t t = 0; t < product.terms; ++t) {
        const float* from = vectors + product.vector_of[t] + lane;
        const std::int64_t place = product.scalar_of[t];
        Floats values[Positions * Parts];
        for (int p = 0; p < Positions * Parts; ++p) values[p] = Vector::load(from + p / Parts * vector_stride + p % Parts * L);
        for (int o = 0; o < Outputs; ++o) {
          const float factor = scalars_of[o][place];
          for (int p = 0; p < Positions * Parts; ++p) sums[o][p] += factor * values[p];
        }
      }
      const auto least = Floats{} + product.least; // read here, where registers are free again
      for (int o = 0; o < Outputs; ++o)
        for (int p = 0; p < Positions * Parts; ++p) {
          const auto sum = sums[o][p] + start[o];
          Vector::store(least > sum ? least : sum, // NaN stays
                        results + o * output_stride + p / Parts * position_stride + p % Parts * L + lane);
        }
    }
}

template<int L, int Outputs, int Count>
[[gnu::always_inline]] inline void correlation_tile(const CorrelationShape& shape, const float* gradients, const float* images,
                                                    const std::int32_t* places, float* sums)
{
  using Vector = SimdVector<L>;
  using Floats = typename Vector::Floats;
  for (std::int64_t lane = 0; lane < image_lanes; lane += L) {
    Floats totals[Outputs][Count];
    for (int o = 0; o < Outputs; ++o)
      for (int t = 0; t < Count; ++t) totals[o][t] = Vector::load(sums + o * shape.output_stride + t * shape.image_stride + lane);
    const float* image[Count];
    for (int t = 0; t < Count; ++t) image[t] = images + places[t] + lane;
    for (int row = 0; row < shape.gradients.rows; ++row) {
      const float* gradient = gradients + row * shape.gradients.row_stride + lane;
      std::ptrdiff_t pixel = row * shape.image_row_stride;
      for (int column = 0; column < shape.gradients.columns; ++column, pixel += shape.image_column_stride) {
        Floats pixels[Count];
        for (int t = 0; t < Count; ++t) pixels[t] = Vector::load(image[t] + pixel);
        for (int o = 0; o < Outputs; ++o) {
          auto value = Vector::load(gradient + o * shape.plane_stride);
          keep(value);
          for (int t = 0; t < Count; ++t) totals[o][t] += value * pixels[t];
        }
        gradient += image_lanes;
      }
    }
    for (int o = 0; o < Outputs; ++o)
      for (int t = 0; t < Count; ++t) Vector::store(totals[o][t], sums + o * shape.output_stride + t * shape.image_stride + lane);
  }
}

using ProductTiles = void (*)(const Product&, int, const float*, const float*, const float*, float*);
using CorrelationTile = void (*)(const CorrelationShape&, const float*, const float*, const std::int32_t*, float*);

// The largest tiles whose sums fit into the registers of one instruction set: 24 sums with 32 registers (AVX-512), 12 with 16.
template<InstructionSet Set> struct TileSizes;
template<> struct TileSizes<InstructionSet::avx512> {
  static constexpr int floats = 16, parts = 1;     // floats of a register; registers of a sum of products
  static constexpr int outputs = 6, positions = 4; // of a tile of products
  static constexpr int gradients = 6, images = 4;  // of a tile of correlations
  static constexpr int sums = 24;                  // that a tile of correlations may have
};
template<> struct TileSizes<InstructionSet::avx2> {
  static constexpr int floats = 8, parts = 2;
  static constexpr int outputs = 6, positions = 1;
  static constexpr int gradients = 4, images = 4;
  static constexpr int sums = 12;
};
template<> struct TileSizes<InstructionSet::plain> {
  static constexpr int floats = 4, parts = 1;
  static constexpr int outputs = 4, positions = 3;
  static constexpr int gradients = 4, images = 3;
  static constexpr int sums = 12;
};

template<InstructionSet Set, int Outputs, int Positions>
[[gnu::always_inline]] inline void products_in(const Product& product, int tiles, const float* vectors, const float* scalars,
                                               const float* start, float* results)
{
  using Sizes = TileSizes<Set>;
  product_tiles_of<Sizes::floats, Sizes::parts, Outputs, Positions>(product, tiles, vectors, scalars, start, results);
}

// Computes one tile. The table of kernels also has tiles with more sums than TileSizes allows; nobody calls them, so they are
// empty.
template<InstructionSet Set, int Outputs, int Count>
[[gnu::always_inline]] inline void correlation_in(const CorrelationShape& shape, const float* gradients, const float* images,
                                                  const std::int32_t* places, float* sums)
{
  using Sizes = TileSizes<Set>;
  if constexpr (Outputs * Count <= Sizes::sums)
    correlation_tile<Sizes::floats, Outputs, Count>(shape, gradients, images, places, sums);
}

// The kernels of one instruction set, compiled for it, by the size of their tile.
template<InstructionSet Set> struct Kernels;
template<> struct Kernels<InstructionSet::avx512> : TileSizes<InstructionSet::avx512> {
  template<int O, int P>
  DT_AVX512 static void products(const Product& a, int b, const float* c, const float* d, const float* e, float* f)
  {
    products_in<InstructionSet::avx512, O, P>(a, b, c, d, e, f);
  }
  template<int O, int T>
  DT_AVX512 static void correlation(const CorrelationShape& a, const float* b, const float* c, const std::int32_t* d, float* e)
  {
    correlation_in<InstructionSet::avx512, O, T>(a, b, c, d, e);
  }
};
template<> struct Kernels<InstructionSet::avx2> : TileSizes<InstructionSet::avx2> {
  template<int O, int P>
  DT_AVX2 static void products(const Product& a, int b, const float* c, const float* d, const float* e, float* f)
  {
    products_in<InstructionSet::avx2, O, P>(a, b, c, d, e, f);
  }
  template<int O, int T>
  DT_AVX2 static void correlation(const CorrelationShape& a, const float* b, const float* c, const std::int32_t* d, float* e)
  {
    correlation_in<InstructionSet::avx2, O, T>(a, b, c, d, e);
  }
};
template<> struct Kernels<InstructionSet::plain> : TileSizes<InstructionSet::plain> {
  template<int O, int P> static void products(const Product& a, int b, const float* c, const float* d, const float* e, float* f)
  {
    products_in<InstructionSet::plain, O, P>(a, b, c, d, e, f);
  }
  template<int O, int T>
  static void correlation(const CorrelationShape& a, const float* b, const float* c, const std::int32_t* d, float* e)
  {
    correlation_in<InstructionSet::plain, O, T>(a, b, c, d, e);
  }
};

template<InstructionSet Set, std::size_t... I> constexpr auto product_tiles(std::index_sequence<I...>)
{
  using K = Kernels<Set>;
  return std::array<ProductTiles, sizeof...(I)>{&K::template products<I / K::positions + 1, I % K::positions + 1>...};
}

template<InstructionSet Set, std::size_t... I> constexpr auto correlation_tiles(std::index_sequence<I...>)
{
  using K = Kernels<Set>;
  return std::array<CorrelationTile, sizeof...(I)>{&K::template correlation<I / K::images + 1, I % K::images + 1>...};
}

template<InstructionSet Set>
void products(const Product& product, const float* vectors, const float* scalars, const float* start, float* results)
{
  using K = Kernels<Set>;
  static constexpr auto tiles = product_tiles<Set>(std::make_index_sequence<K::outputs * K::positions>());
  static constexpr float zeros[K::outputs]{};
  const auto& shape = product.shape;
  const auto run = [&](int p, int positions, int count) {
    for_parts(shape.outputs, K::outputs, [&](int o, int outputs) {
      tiles[static_cast<std::size_t>((outputs - 1) * K::positions + positions - 1)](
          product, count, vectors + p * shape.vector_stride, scalars + o * shape.scalar_stride, start ? start + o : zeros,
          results + o * shape.output_stride + p * shape.position_stride);
    });
  };
  if (K::positions == 1) return run(0, 1, shape.positions);
  for_parts(shape.positions, K::positions, [&](int p, int positions) { run(p, positions, 1); });
}

template<InstructionSet Set>
void correlations(const CorrelationShape& shape, const float* gradients, const float* images, const std::int32_t* places,
                  int count, float* sums)
{
  using K = Kernels<Set>;
  static constexpr auto tiles = correlation_tiles<Set>(std::make_index_sequence<K::gradients * K::images>());
  const int parts = (shape.outputs + K::gradients - 1) / K::gradients, most_outputs = (shape.outputs + parts - 1) / parts;
  for_parts(shape.outputs, K::gradients, [&](int o, int outputs) {
    for_parts(count, std::min(K::images, K::sums / most_outputs), [&](int t, int terms) {
      tiles[static_cast<std::size_t>((outputs - 1) * K::images + terms - 1)](
          shape, gradients + o * shape.plane_stride, images, places + t, sums + o * shape.output_stride + t * shape.image_stride);
    });
  });
}

} // namespace

void lane_products(InstructionSet set, const Terms& terms, const ProductShape& shape, const float* vectors, const float* scalars,
                   const float* start, bool rectify, float* results)
{
  const Product product{terms.vectors.data(), terms.scalars.data(), static_cast<std::int64_t>(terms.vectors.size()), shape,
                        rectify ? 0.0F : -std::numeric_limits<float>::infinity()};
  switch (set) {
  case InstructionSet::avx512:
    return products<InstructionSet::avx512>(product, vectors, scalars, start, results);
  case InstructionSet::avx2:
    return products<InstructionSet::avx2>(product, vectors, scalars, start, results);
  case InstructionSet::plain:
    return products<InstructionSet::plain>(product, vectors, scalars, start, results);
  }
}

void lane_correlations(InstructionSet set, const CorrelationShape& shape, const float* gradients, const float* images,
                       const std::int32_t* places, int count, float* sums)
{
  switch (set) {
  case InstructionSet::avx512:
    return correlations<InstructionSet::avx512>(shape, gradients, images, places, count, sums);
  case InstructionSet::avx2:
    return correlations<InstructionSet::avx2>(shape, gradients, images, places, count, sums);
  case InstructionSet::plain:
    return correlations<InstructionSet::plain>(shape, gradients, images, places, count, sums);
  }
}

namespace {

template<int L> [[gnu::always_inline]] inline float sum_of(const float* vectors, std::int64_t count)
{
  using Vector = SimdVector<L>;
  constexpr int parts = static_cast<int>(image_lanes) / L, chains = 4;
  typename Vector::Floats sums[chains][parts];
  for (int c = 0; c < chains; ++c)
    for (int p = 0; p < parts; ++p) sums[c][p] = typename Vector::Floats{};
  const auto add = [&](int chain, const float* from) __attribute__((always_inline))
  {
    for (int p = 0; p < parts; ++p) sums[chain][p] += Vector::load(from + p * L);
  };
  std::int64_t v = 0;
  for (; v + chains <= count; v += chains)
    for (int c = 0; c < chains; ++c) add(c, vectors + (v + c) * image_lanes);
  for (; v < count; ++v) add(0, vectors + v * image_lanes);
  float total = 0;
  for (int p = 0; p < parts; ++p) {
    const auto all = (sums[0][p] + sums[1][p]) + (sums[2][p] + sums[3][p]);
    for (int lane = 0; lane < L; ++lane) total += all[lane];
  }
  return total;
}

// Halves are added until one number is left.
template<int L> [[gnu::always_inline]] inline void totals_of(const float* vectors, std::int64_t count, float* totals)
{
  using Vector = SimdVector<L>;
  constexpr int parts = static_cast<int>(image_lanes) / L;
  for (std::int64_t i = 0; i < count; ++i, vectors += image_lanes) {
    typename Vector::Floats sums[parts];
    for (int p = 0; p < parts; ++p) sums[p] = Vector::load(vectors + p * L);
    for (int half = parts / 2; half > 0; half /= 2)
      for (int p = 0; p < half; ++p) sums[p] += sums[p + half];
    float numbers[L];
    Vector::store(sums[0], numbers);
    for (int half = L / 2; half > 0; half /= 2)
      for (int lane = 0; lane < half; ++lane) numbers[lane] += numbers[lane + half];
    totals[i] = numbers[0];
  }
}

} // namespace

float lane_sum(InstructionSet set, const float* vectors, std::int64_t count)
{
  float sum = 0;
  with_vectors_of(
      set, [&](auto l) __attribute__((always_inline)) { sum = sum_of<l()>(vectors, count); });
  return sum;
}

void lane_totals(InstructionSet set, const float* vectors, std::int64_t count, float* totals)
{
  with_vectors_of(
      set, [&](auto l) __attribute__((always_inline)) { totals_of<l()>(vectors, count, totals); });
}

} // namespace dt::nn
