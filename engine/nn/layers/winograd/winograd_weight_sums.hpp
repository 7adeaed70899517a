// WinogradWeightSums: the backward pass of a convolution to its weights by Winograd's algorithm: for each point of a window, the
// sum over all tiles of the products of the pixels' points with the points of the results' gradients.
//
// One of three ways, by the sizes:
//   own_tiles    The points of a thread's tiles are at least twice as large as all sums: each thread sums over tiles of its own,
//                and the threads' sums are added at the end, so that threads read nothing but these sums from each other. Bits
//                depend on the number of threads.
//   own_sums     The points of all tiles are few, and there is work for each thread: the threads share the points, and each
//                computes the sums of some channels with some outputs, over all tiles.
//   in_chunks    Otherwise: the threads share the points of one chunk of tiles after the other, and all sums.
#pragma once

#include "engine/nn/layers/winograd/winograd_tiling.hpp"

namespace dt::nn {

class WinogradWeightSums {
 public:
  struct Case {
    Shape input, output;
    std::int64_t padding = 0;
    std::int64_t batch = 1;
    int threads = 1;
  };
  WinogradWeightSums(const WinogradTiling& tiling, const Case& of);

  // Size of the buffer that run() needs, in floats.
  std::int64_t buffer_floats() const;
  // Overwrites the gradient of the weights, [output / 16][input / 16][row][column][16 inputs][16 outputs]. Images and the
  // gradient of the output in blocks of block() channels. The threads of OpenMP share the work.
  void run(const void* images, const void* gradient, float* weight_gradient, float* buffer) const;

 private:
  enum class Way { own_tiles, own_sums, in_chunks };
  struct Operands {
    TiledImages images, gradient;
    float* weight_gradient;
    float *pixels, *gradients, *sums; // points, and sums of products
  };
  // All threads of a team call these together; give_gradients computes the weights' gradients from all sums.
  void sum_own_tiles(const Operands& operands) const;
  void sum_own_sums(const Operands& operands) const;
  void sum_in_chunks(const Operands& operands) const;
  void divide_to_points(const Operands& operands, const TileRange& range) const;
  void give_gradients(const Operands& operands) const;
  // The calling thread sums over the tiles of one thread's share.
  void sum_share(Operands operands, std::int64_t share) const;
  // Sums the products of a chunk's points `point`, of one block of channels with all outputs. `accumulate`: adds to the sums
  // that are there.
  void add_products(const Operands& operands, const TileRange& chunk, bool accumulate, std::int64_t point,
                    std::int64_t channel_block) const;
  // The gradients of sixteen windows, which read `channel`, from the sums of their points.
  void give_gradient(const Operands& operands, std::int64_t block, std::int64_t channel, const float* sums,
                     std::int64_t stride) const;
  std::int64_t sum_stride() const;

  const WinogradTiling& tiling_;
  const BlockKernels& products_ = block_kernels(best_instruction_set());
  Case case_;
  Way way_;
  std::int64_t tiles_, chunk_, of_thread_; // of the batch, in a chunk at most, of a thread at most
};

} // namespace dt::nn
