#include "engine/nn/layers/winograd/winograd_tiling.hpp"

#include <algorithm>

namespace dt::nn {
namespace {

constexpr std::int64_t tiles_at_once = 32; // of a channel that a thread transforms before the next one has its turn

} // namespace

void* WinogradTiling::plane_of(const TiledImages& of, std::int64_t image, std::int64_t channel) const
{
  const auto number = (image * of.shape.channels + channel) * of.shape.height * of.shape.width;
  if (precision_ == Precision::bf16) return static_cast<Bf16*>(of.images) + number;
  return static_cast<float*>(of.images) + number;
}

// A tile of an image whose first result, less the padding, is its first pixel.
WinogradTile WinogradTiling::tile_at(std::int64_t tile, const TiledImages& of) const
{
  const auto across = along(of.results.width);
  return {of.shape.height, of.shape.width, tile / across * kernels_.results - of.padding,
          tile % across * kernels_.results - of.padding};
}

void WinogradTiling::to_points(const TiledImages& of, const TileRange& range, std::int64_t channel, std::int64_t begin,
                               std::int64_t end, float* points) const
{
  const auto transform = of.are_results ? kernels_.result_gradients : kernels_.pixels;
  const auto in_image = tiles_of(of.results), stride = point_stride(of.shape.channels / winograd_line * range.tiles);
  for (std::int64_t tile = begin; tile < end; ++tile)
    transform(plane_of(of, (range.first + tile) / in_image, channel), tile_at((range.first + tile) % in_image, of),
              points + (channel / winograd_line * range.tiles + tile) * winograd_line + channel % winograd_line, stride);
}

void WinogradTiling::all_to_points(const TiledImages& of, const TileRange& range, float* points) const
{
  for (std::int64_t channel = 0; channel < of.shape.channels; channel += block())
    to_points(of, range, channel, 0, range.tiles, points);
}

void WinogradTiling::divide_to_points(const TiledImages& of, const TileRange& range, float* points) const
{
#pragma omp for collapse(2) schedule(static)
  for (std::int64_t channel = 0; channel < of.shape.channels; channel += block())
    for (std::int64_t begin = 0; begin < range.tiles; begin += tiles_at_once)
      to_points(of, range, channel, begin, std::min(begin + tiles_at_once, range.tiles), points);
}

void WinogradTiling::to_results(const Products& products, const TileRange& range, std::int64_t channel,
                                const TiledImages& to) const
{
  const auto in_image = tiles_of(to.results);
  for (std::int64_t tile = 0; tile < range.tiles; ++tile)
    for (std::int64_t offset = 0; offset < winograd_line; offset += block())
      kernels_.give_results(products.points + tile * winograd_line + offset, products.stride,
                            products.bias ? products.bias + channel + offset : nullptr, products.rectify,
                            tile_at((range.first + tile) % in_image, to),
                            plane_of(to, (range.first + tile) / in_image, channel + offset));
}

} // namespace dt::nn
