// WinogradFilter: a convolution of a batch by Winograd's algorithm: a layer's forward pass, or, with windows turned by 180
// degrees and both kinds of channels exchanged, its backward pass to the data.
//
// The tiles of the batch are computed in chunks, in three steps: points of the pixels, products with the points of the windows,
// results from the products. Points of windows are [point][output / 16][channel][16].
//
// Data that one core writes and another one reads costs time, much of it where the cores do not share their last cache: on an
// AMD EPYC a line takes 27 ns between cores of one group and 163 ns between two groups. So where all windows' points
// fit into half of the last cache, the points of a few tiles' pixels into a core's own one, and there are several such chunks for
// each thread, each thread computes chunks of its own from the pixels to the results. Otherwise the threads share a chunk's
// points, and each computes some of the outputs.
#pragma once

#include "engine/nn/layers/winograd/winograd_tiling.hpp"

namespace dt::nn {

class WinogradFilter {
 public:
  struct Case {
    Shape from, to;
    std::int64_t padding = 0;
    bool rotated = false; // a backward pass to the data: `from` has the shape of the layer's output, `to` that of its input
    bool rectify = false; // results max(., 0)
    std::int64_t batch = 1;
    int threads = 1;
    CacheSizes caches = cache_sizes();
  };
  WinogradFilter(const WinogradTiling& tiling, const Case& of);

  // Size of the buffer that run() needs, in floats.
  std::int64_t buffer_floats() const;
  // Images and results in blocks of block() channels; the layer's weights as
  // [output / 16][input / 16][row][column][16 inputs][16 outputs]; the bias may be null. The threads of OpenMP share the work.
  void run(const void* images, const float* weights, const float* bias, void* results, float* buffer) const;

 private:
  struct Operands {
    TiledImages images, results;
    const float *weights, *bias;
    float* buffer;
  };
  // Points of the windows of `blocks` blocks of sixteen outputs from `block` on.
  struct Windows {
    std::int64_t block, blocks;
    const float* points;
    std::int64_t stride; // from one point to the next
  };
  // All threads of a team call one of these together.
  void run_own_chunks(const Operands& operands) const;
  void run_shared_chunks(const Operands& operands) const;
  // The calling thread computes the points of the windows of `blocks` blocks of outputs.
  void transform_windows(const float* weights, std::int64_t block, std::int64_t blocks, float* to, std::int64_t stride) const;
  // The calling thread computes the results of tiles [begin, end) of a chunk, for these outputs.
  void compute(const Operands& operands, const TileRange& chunk, const float* pixels, const Windows& windows, std::int64_t begin,
               std::int64_t end) const;
  std::int64_t blocks() const;     // of outputs
  std::int64_t own_floats() const; // of a thread's products
  std::int64_t window_floats() const;
  std::int64_t pixel_floats() const;

  const WinogradTiling& tiling_;
  const BlockKernels& products_ = block_kernels(best_instruction_set());
  Case case_;
  std::int64_t tiles_;                // of the batch
  bool has_own_chunks_;               // each thread takes whole chunks
  std::int64_t chunk_, part_, group_; // most tiles in a chunk; in a part of it, for one thread; in a group, whose products are in
                                      // a core's own cache
  std::int64_t blocks_at_once_;       // of outputs, in a group
};

} // namespace dt::nn
