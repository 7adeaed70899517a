// WinogradTiling: how a batch of images divides into tiles for Winograd's algorithm
// (engine/nn/kernels/winograd/winograd_tiles.hpp), and the transforms between images and the points of their tiles.
//
// The points of tiles lie in buffers of [point][channel / 16][tile][16]; from one point to the next it is an odd number of lines
// of sixteen floats, so that the points of a tile lie in different sets of the caches.
#pragma once

#include "engine/model/tensor.hpp"
#include "engine/nn/kernels/parts.hpp"
#include "engine/nn/kernels/processor.hpp"
#include "engine/nn/kernels/winograd/winograd_tiles.hpp"

namespace dt::nn {

using model::Shape;

inline constexpr std::int64_t winograd_line = block_channels; // adjacent channels in buffers of points

// Floats from one point to the next where a point has `lines` lines.
constexpr std::int64_t point_stride(std::int64_t lines) { return (lines | 1) * winograd_line; }

// A batch of images in blocks of block() channels, and the tiles that they divide into.
struct TiledImages {
  void* images;
  Shape shape, results;     // of these images, and of the convolution's results
  std::int64_t padding = 0; // of the convolution
  // Whether these images are the convolution's results or gradients of them, not what it reads. Then `results` is `shape`.
  bool are_results = false;
};

// Tiles [first, first + tiles) of a batch.
struct TileRange {
  std::int64_t first, tiles;
};

class WinogradTiling {
 public:
  WinogradTiling(std::int64_t window, Precision precision)
      : kernels_(winograd_kernels(window, precision, best_instruction_set())), window_(window), precision_(precision)
  {
  }
  const WinogradKernels& kernels() const { return kernels_; }
  std::int64_t window() const { return window_; } // side length
  std::int64_t points() const { return kernels_.points; }
  std::int64_t block() const { return kernels_.block; } // adjacent channels in the layout of images
  // Number of tiles of an image of results.
  std::int64_t tiles_of(const Shape& results) const { return along(results.height) * along(results.width); }
  // Size of the points of `tiles` tiles of `channels` channels, in floats.
  std::int64_t floats_of(std::int64_t channels, std::int64_t tiles) const
  {
    return points() * point_stride(channels / winograd_line * tiles);
  }

  // The calling thread computes the points of tiles [begin, end) of the range, of block() channels from `channel` on.
  // Images that are results count as gradients of results.
  void to_points(const TiledImages& of, const TileRange& range, std::int64_t channel, std::int64_t begin, std::int64_t end,
                 float* points) const;
  // The calling thread computes the points of all channels and tiles of the range.
  void all_to_points(const TiledImages& of, const TileRange& range, float* points) const;
  // The same; all threads of a team call it together and divide the work.
  void divide_to_points(const TiledImages& of, const TileRange& range, float* points) const;

  // The results of a range's tiles, of sixteen channels from `channel` on, from the points of their products.
  struct Products {
    const float* points;
    std::int64_t stride; // from one point to the next
    const float* bias;   // of all channels, or null
    bool rectify;        // max(., 0)
  };
  void to_results(const Products& products, const TileRange& range, std::int64_t channel, const TiledImages& to) const;

 private:
  std::int64_t along(std::int64_t results) const { return divided_up(results, kernels_.results); }
  WinogradTile tile_at(std::int64_t tile, const TiledImages& of) const;
  // The plane of adjacent channels from `channel` on, a multiple of block().
  void* plane_of(const TiledImages& of, std::int64_t image, std::int64_t channel) const;

  const WinogradKernels& kernels_;
  std::int64_t window_;
  Precision precision_;
};

} // namespace dt::nn
