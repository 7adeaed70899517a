#include "engine/nn/kernels/place_products.hpp"

#include "engine/nn/kernels/lanes.hpp"

#include <array>
#include <utility>

namespace dt::nn {
namespace {

// L: numbers of a register. Loops instead of initialisers, because GCC 12 would clear an array in memory first.
template<int L, int Scalars, int Blocks>
[[gnu::always_inline]] inline void sum_places(const PlaceSums& shape, const float* scalars, const float* vectors, float* results)
{
  constexpr int parts = place_lanes / L;
  typename Lanes<L>::Floats sums[Scalars][Blocks * parts];
  const auto at = [&](int s, int v) { return v / parts * shape.result_block + s * place_lanes + v % parts * L; };
  for (int s = 0; s < Scalars; ++s)
    for (int v = 0; v < Blocks * parts; ++v) sums[s][v] = Lanes<L>::load(results + at(s, v));
  for (std::int64_t image = 0; image < shape.images; ++image)
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const float* x = scalars + image * shape.scalar_image + row * shape.scalar_row;
      const float* d = vectors + image * shape.vector_image + row * shape.vector_row;
#pragma GCC unroll 2
      for (std::int64_t column = 0; column < shape.columns; ++column, x += shape.scalar_column, d += place_lanes) {
        typename Lanes<L>::Floats values[Blocks * parts];
        for (int v = 0; v < Blocks * parts; ++v) values[v] = Lanes<L>::load(d + v / parts * shape.vector_block + v % parts * L);
        for (int s = 0; s < Scalars; ++s) {
          const float factor = x[s * shape.scalar_stride];
          for (int v = 0; v < Blocks * parts; ++v) sums[s][v] += factor * values[v];
        }
      }
    }
  for (int s = 0; s < Scalars; ++s)
    for (int v = 0; v < Blocks * parts; ++v) Lanes<L>::store(sums[s][v], results + at(s, v));
}

template<int Scalars, int Blocks> DT_AVX2 void avx2(const PlaceSums& a, const float* b, const float* c, float* d)
{
  sum_places<8, Scalars, Blocks>(a, b, c, d);
}

template<int Scalars, int Blocks> void plain(const PlaceSums& a, const float* b, const float* c, float* d)
{
  sum_places<4, Scalars, Blocks>(a, b, c, d);
}

constexpr auto tiles = static_cast<std::size_t>(most_place_scalars * most_place_blocks);

template<std::size_t I> constexpr int scalars_of = static_cast<int>(I / most_place_blocks) + 1;
template<std::size_t I> constexpr int blocks_of = static_cast<int>(I % most_place_blocks) + 1;

template<std::size_t... I> constexpr auto avx2_tiles(std::index_sequence<I...>)
{
  return std::array<PlaceKernel, tiles>{&avx2<scalars_of<I>, blocks_of<I>>...};
}

template<std::size_t... I> constexpr auto plain_tiles(std::index_sequence<I...>)
{
  return std::array<PlaceKernel, tiles>{&plain<scalars_of<I>, blocks_of<I>>...};
}

} // namespace

PlaceKernel place_kernel(InstructionSet set, std::int64_t scalars, std::int64_t blocks)
{
  static constexpr auto wide = avx2_tiles(std::make_index_sequence<tiles>());
  static constexpr auto narrow = plain_tiles(std::make_index_sequence<tiles>());
  const auto tile = static_cast<std::size_t>((scalars - 1) * most_place_blocks + blocks - 1);
  return set == InstructionSet::plain ? narrow.at(tile) : wide.at(tile);
}

} // namespace dt::nn
