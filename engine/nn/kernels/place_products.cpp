#include "engine/nn/kernels/place_products.hpp"

#include "engine/nn/kernels/simd_vector.hpp"

#include <array>
#include <utility>

namespace dt::nn {
namespace {

// Loops instead of initialisers, because GCC 12 would clear an array in memory first.
template<int Scalars, int Blocks>
DT_AVX2 void sum_places(const PlaceSums& shape, const float* scalars, const float* vectors, float* results)
{
  using V = SimdVector<place_channels>;
  V::Floats sums[Scalars][Blocks];
  for (int s = 0; s < Scalars; ++s)
    for (int b = 0; b < Blocks; ++b) sums[s][b] = V::load(results + b * shape.result_block + s * place_channels);
  for (std::int64_t image = 0; image < shape.images; ++image)
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const float* x = scalars + image * shape.scalar_image + row * shape.scalar_row;
      const float* d = vectors + image * shape.vector_image + row * shape.vector_row;
#pragma GCC unroll 2
      for (std::int64_t column = 0; column < shape.columns; ++column, x += shape.scalar_column, d += place_channels) {
        V::Floats values[Blocks];
        for (int b = 0; b < Blocks; ++b) values[b] = V::load(d + b * shape.vector_block);
        for (int s = 0; s < Scalars; ++s) {
          const float factor = x[s * shape.scalar_stride];
          for (int b = 0; b < Blocks; ++b) sums[s][b] += factor * values[b];
        }
      }
    }
  for (int s = 0; s < Scalars; ++s)
    for (int b = 0; b < Blocks; ++b) V::store(sums[s][b], results + b * shape.result_block + s * place_channels);
}

constexpr auto tiles = static_cast<std::size_t>(most_place_scalars * most_place_blocks);

template<std::size_t... I> constexpr auto kernels_of(std::index_sequence<I...>)
{
  return std::array<PlaceKernel, tiles>{
      &sum_places<static_cast<int>(I / most_place_blocks) + 1, static_cast<int>(I % most_place_blocks) + 1>...};
}

} // namespace

PlaceKernel place_kernel(std::int64_t scalars, std::int64_t blocks)
{
  static constexpr auto kernels = kernels_of(std::make_index_sequence<tiles>());
  return kernels.at(static_cast<std::size_t>((scalars - 1) * most_place_blocks + blocks - 1));
}

} // namespace dt::nn
