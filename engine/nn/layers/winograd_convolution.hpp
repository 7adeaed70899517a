// WinogradConvolution: a 3x3 or 5x5 convolution by Winograd's algorithm with kernels of our own
// (engine/nn/kernels/winograd_tiles.hpp), where oneDNN has only direct sums: 5x5 everywhere, 3x3 on processors without AVX-512
// and in bf16. In bf16 the images and their gradients are bfloat16; points, weights, products and sums are fp32.
//
// A direction computes the tiles of the batch in chunks, in three steps: points of the pixels, products with the points of the
// windows, results from the products. Buffers, with 16 adjacent channels innermost and an odd number of such lines from one
// point to the next, so that the points of a tile lie in different sets of the caches:
//   points of pixels   [points][channel / 16][tile of the chunk][16]
//   points of windows  [points][output / 16][channel][16]
//   products           [points][output / 16][tile of the group][16], of each thread; points: 36 for 3x3, 64 for 5x5
//
// Weights lie in blocks of 16 x 16 channels: OIhw16i16o, [output / 16][channel / 16][row][column][16 channels][16 outputs];
// backward to the data takes a copy with both kinds of channels exchanged.
#pragma once

#include "engine/nn/kernels/block_products.hpp"
#include "engine/nn/kernels/winograd_tiles.hpp"
#include "engine/nn/layers/convolution.hpp"

#include <memory>

namespace dt::nn {

class WinogradConvolution final : public Convolution {
 public:
  WinogradConvolution(std::string name, Tensor input, Tensor output, const ConvolutionSpec& spec, Precision precision);
  // Windows of 3x3 or 5x5 with stride 1, whole blocks of sixteen channels on both sides, and no such algorithm in oneDNN.
  static bool supports(const ConvolutionSpec& spec, std::int64_t input_channels, Precision precision);
  void plan_forward(Plan& plan) override;

 private:
  // How the tiles of a batch are divided: into chunks whose points of pixels are in a cache, and these into groups whose products
  // are in a core's own cache.
  struct Split {
    std::int64_t tiles = 0, chunk = 0, group = 0; // numbers of tiles: in all, in a chunk, in a group
    bool is_own = false; // each thread takes chunks of its own, in its core's cache; false: all threads share one chunk
  };
  // Tiles [first, first + tiles) of a batch's images of `shape`, whose convolution has `results`, and the place of their points.
  struct Pixels {
    const dnnl::memory& images;
    const Shape &shape, &results;
    std::int64_t padding, first, tiles;
    float* to;
  };
  // A convolution of a batch: the layer's own, or, turned round, that of its output's gradient.
  struct Pass {
    Shape from, to;
    std::int64_t padding = 0;
    bool rotated = false, rectify = false;
    dnnl::memory images{}, weights{}, bias{}, results{}; // weights: in blocks, [to][from]; bias may be empty
    dnnl::memory windows{}, pixels{}, products{};        // points, and products of each thread
    Split split{};
  };
  void plan_backward_data(Plan& plan, const dnnl::memory& output_gradient) override;
  void plan_backward_weights(Plan& plan, const dnnl::memory& output_gradient) override;
  LayerAlgorithms rule(const Plan& plan) const override;
  // Enough channels and pixels to be clearly faster than direct sums in all directions. Never in bf16: direct sums of bfloat16
  // are twice as fast as those of fp32 on one processor and sixteen times on another, so only a timing can tell there.
  bool suits() const;
  Operation weights_operation(Plan& plan, const dnnl::memory& images, const dnnl::memory& gradient,
                              const dnnl::memory& weight_gradient) const;
  Operation operation(const char* what, Plan& plan, Pass pass) const;
  void run(const Pass& pass) const;
  void transform_windows(const Pass& pass) const;
  // All threads of a team call this together and share the tiles.
  void transform_pixels(const Pixels& of) const;
  void transform_gradients(const dnnl::memory& gradients, const Shape& shape, std::int64_t first, std::int64_t tiles,
                           float* points) const;
  // The calling thread computes the points of tiles [begin, end) of these, of lanes() channels from `channel` on.
  void transform_part(const Pixels& of, std::int64_t channel, std::int64_t begin, std::int64_t end) const;
  void run_shared_chunks(const Pass& pass) const;
  void run_own_chunks(const Pass& pass) const;
  // The calling thread's buffer for the products of a group.
  float* own_products(const Pass& pass) const;
  // Size, in floats, of the buffer that holds the points of `tiles` tiles of pixels, for all channels of `images`.
  std::int64_t pixel_floats(const Shape& images, std::int64_t tiles) const;
  void run_group(const Pass& pass, const float* pixels, std::int64_t chunk_tiles, std::int64_t chunk_first, std::int64_t group,
                 std::int64_t block, std::int64_t blocks, float* products) const;
  void give_results(const Pass& pass, std::int64_t first, std::int64_t tiles, std::int64_t block, const float* products,
                    std::int64_t product_stride) const;
  // Backward to the weights: what it reads and writes, and its buffers.
  struct WeightsPass {
    dnnl::memory images, gradient, weight_gradient;
    dnnl::memory pixels{}, gradients{}, sums{}; // points, and sums of products
    Split split{};
  };
  void run_backward_weights(const WeightsPass& pass) const;
  void sum_chunk(const WeightsPass& pass, std::int64_t first, std::int64_t tiles) const;
  std::int64_t tiles_along(std::int64_t results) const;
  std::int64_t tiles_of(const Shape& results) const { return tiles_along(results.height) * tiles_along(results.width); }
  WinogradTile tile_at(std::int64_t tile, const Shape& plane, const Shape& results, std::int64_t padding) const;

  std::int64_t lanes() const { return transforms_.lanes; } // adjacent channels in the layout of activations
  // The plane of adjacent channels from `channel` on, a multiple of lanes().
  void* plane_of(const dnnl::memory& images, const Shape& shape, std::int64_t image, std::int64_t channel) const;
  dnnl::memory::desc images_of(const Plan& plan, const Shape& shape) const;
  dnnl::memory::desc weights_of(dnnl::memory::format_tag tag) const;

  Precision precision_;
  const WinogradKernels& transforms_;
  const BlockKernels& products_ = block_kernels(best_instruction_set());
  std::int64_t window_, results_; // side lengths
  std::int64_t points_;           // of a tile
};

// A WinogradConvolution where `winograd` allows it and the class supports the shape; otherwise a Convolution, whose primitives
// are oneDNN's.
std::unique_ptr<Convolution> make_convolution(const std::string& name, Tensor input, Tensor output, const ConvolutionSpec& spec,
                                              bool winograd, Precision precision);

} // namespace dt::nn
