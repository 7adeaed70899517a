// WeightSums: a convolution's backward pass to the weights by direct sums of our own, for processors with AVX2 and without
// AVX-512, where oneDNN's kernel for windows reaches two thirds of the peak:
//   dL/dW[o][i][kh][kw] = sum over images n and places y, x of the output of dL/dy[n][o][y][x] input[n][i][s y + kh - p][s x + kw
//   - p]
//
// A tile of weights, four (or fewer) of i by 24 of o at one kh, kw, stays in registers while the kernel passes over the places of
// a strip: rows of an image, or whole small images, whose numbers stay in the first-level cache while all tiles have their turn.
// The order of the sums does not depend on the number of threads.
#pragma once

#include "engine/nn/layers/convolution.hpp"

namespace dt::nn {

class WeightSums {
 public:
  // Windows of more than one pixel, outputs in whole blocks of eight channels, and inputs either so, too, or, when it reads the
  // network's images, of up to four channels.
  static bool supports(const ConvolutionSpec& spec, std::int64_t input_channels, bool reads_images);

  WeightSums(const ConvolutionSpec& spec, const Shape& input, const Shape& output, std::int64_t batch, int threads);

  // The layouts of what run() reads and writes.
  dnnl::memory::format_tag images_layout() const;   // nChw8c, or nchw for up to four channels
  dnnl::memory::format_tag gradient_layout() const; // nChw8c
  dnnl::memory::format_tag weights_layout() const;  // OIhw8i8o or Ohwi8o

  // Numbers of the buffer that run() needs; 0: none.
  std::int64_t buffer_floats() const { return parts_ > 1 ? parts_ * weights_ : 0; }
  // Overwrites the weights' gradient. Uses the calling thread's team.
  void run(const float* images, const float* gradient, float* buffer, float* weight_gradient) const;

 private:
  struct Range {
    std::int64_t begin, end;
    std::int64_t size() const { return end - begin; }
  };
  // What one thread computes at once: the sums over a part of the strips, for the weights of these blocks of outputs and of
  // inputs.
  struct Task {
    std::int64_t part;
    Range outputs, inputs;
  };
  struct Strip {
    Range images, rows;
  };
  // [0, count) in ranges of at most `most` that are as equal as possible.
  static std::vector<Range> divided(std::int64_t count, std::int64_t most);
  struct Operands {
    const float *images, *gradient;
    float* weights;
  };
  void compute(const Task& task, std::int64_t slice, Operands operands) const;
  void add_strip(const Task& task, const Strip& strip, std::int64_t input_block, const Operands& operands) const;
  // Places of the output whose pixel, at `offset` in the window, lies within a side of `pixels`.
  Range inside(Range places, std::int64_t offset, std::int64_t pixels) const;
  // Of the first weight of a row of a window.
  std::int64_t weight_offset(std::int64_t output_block, std::int64_t input_block, std::int64_t row) const;

  ConvolutionSpec spec_;
  Shape input_, output_;
  bool in_planes_; // the images are in nchw
  std::int64_t input_lanes_, input_blocks_;
  std::int64_t weights_;        // their number
  std::int64_t parts_, slices_; // of the strips: each summed by itself; passed over one after the other. One of them is 1.
  std::vector<Task> tasks_;
  std::vector<Strip> strips_;
};

} // namespace dt::nn
