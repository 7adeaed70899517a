// WeightSums: the backward pass to the weights of a convolution as direct sums, with kernels of our own. It serves processors
// with AVX2 and without AVX-512, where oneDNN's kernel for windows of several pixels reaches two thirds of the multiply-add peak.
//
// dL/dW[o][i][kh][kw] = sum over images n and over rows y and columns x of the output of
//   dL/dy[n][o][y][x] * input[n][i][stride * y + kh - padding][stride * x + kw - padding]
//
// The kernel keeps a tile of weights in registers while it adds the products of many places (pixels of the output): up to 4 input
// channels by 24 output channels of one kh and kw. The places are divided into strips, each some rows of one image or several
// whole small images. What a strip reads fits into the first-level cache, so it is read from there for all tiles.
// If all weights fit into a core's own cache, the strips are divided into parts, the sums of each part are computed on their own
// and then added; otherwise the strips are computed in slices whose images and gradients fit into the cache that all cores share.
// The order in which products are added does not depend on the number of threads.
#pragma once

#include "core/maths/range.hpp"
#include "engine/nn/layers/affine/convolution.hpp"

namespace dt::nn {

class WeightSums {
 public:
  // True for this processor and a convolution without groups whose window has more than one pixel and whose number of output
  // channels is a multiple of 8. The number of input channels must be a multiple of 8 as well; if the convolution reads the
  // images of the data set (`reads_images`), it must be at most 4 instead.
  static bool supports(const ConvolutionSpec& spec, std::int64_t input_channels, bool reads_images);

  WeightSums(const ConvolutionSpec& spec, const Shape& input, const Shape& output, std::int64_t batch, int threads);

  // The layouts of what run() reads and writes.
  dnnl::memory::format_tag images_layout() const;   // nChw8c, or nchw for up to four channels
  dnnl::memory::format_tag gradient_layout() const; // nChw8c
  dnnl::memory::format_tag weights_layout() const;  // OIhw8i8o or Ohwi8o

  // Length of the buffer that run() needs, in floats; 0 if it needs none.
  std::int64_t buffer_floats() const { return parts_ > 1 ? parts_ * weights_ : 0; }
  // Overwrites the gradient of the weights. The threads of OpenMP share the work.
  void run(const float* images, const float* gradient, float* buffer, float* weight_gradient) const;

 private:
  using IndexRange = BasicRange<std::int64_t>;
  // A thread computes one task after the other. A task adds the products of one part of the strips, for the weights between a
  // range of output blocks and a range of input blocks. A block has 8 channels, or all of them if the images are in nchw.
  struct Task {
    std::int64_t part;
    IndexRange outputs, inputs;
  };
  struct Strip {
    IndexRange images, rows;
  };
  struct Operands {
    const float *images, *gradient;
    float* weights;
  };
  void compute(const Task& task, std::int64_t slice, Operands operands) const;
  void add_strip(const Task& task, const Strip& strip, std::int64_t input_block, const Operands& operands) const;
  // The rows (or columns) of the output among `places` for which row (or column) `offset` of the window lies within the input,
  // which has `pixels` rows (or columns).
  IndexRange inside(IndexRange places, std::int64_t offset, std::int64_t pixels) const;
  // Position of the first weight of window row `row` between two blocks, in floats from the beginning of all weights.
  std::int64_t weight_offset(std::int64_t output_block, std::int64_t input_block, std::int64_t row) const;

  ConvolutionSpec spec_;
  Shape input_, output_;
  bool in_planes_; // the images are in nchw
  std::int64_t input_block_channels_, input_blocks_;
  std::int64_t weights_;        // number of weights
  std::int64_t parts_, slices_; // numbers of parts and of slices of the strips; one of them is 1
  std::vector<Task> tasks_;
  std::vector<Strip> strips_;
};

} // namespace dt::nn
