// LoweredConvolution: a convolution as matrix products of a BLAS, as Caffe computes it [Jia2014]: im2col copies the window of
// each output pixel of an image into a column of a matrix. The peer of the engine's own layers in a benchmark.
#pragma once

#include "engine/bench/compute/blas.hpp"
#include "engine/model/layer.hpp"

#include <functional>
#include <vector>

namespace dt::bench {

// How several threads share the work.
enum class Arrangement {
  image_after_image,  // as Caffe: the products use all threads, the copies one
  images_over_threads // each thread has its own images
};

// All arrays are in plain order: batch x channels x height x width; weights are outputs x inputs of a group x kernel x kernel.
class LoweredConvolution {
 public:
  struct Case {
    model::Shape input, output;
    model::ConvolutionSpec spec;
    std::int64_t batch = 1;
    int threads = 1;
  };
  LoweredConvolution(const Blas& blas, const Case& of, Arrangement arrangement);

  // `bias` is null where the convolution has none; so is its gradient.
  void forward(const float* x, const float* weights, const float* bias, float* y);
  void backward_weights(const float* x, const float* dy, float* dweights, float* dbias);
  void backward_data(const float* dy, const float* weights, float* dx);

 private:
  // Calls f(image, thread).
  void each_image(const std::function<void(std::int64_t, std::size_t)>& f) const;
  // The matrix of an image: the image itself where a window is a single pixel.
  const float* columns_of(const float* image, std::size_t thread);
  const Blas& blas_;
  Case of_;
  Arrangement arrangement_;
  bool is_pointwise_;
  std::int64_t pixels_, group_outputs_, group_products_; // of an output plane; channels, and products of an output, in a group
  std::vector<std::vector<float>> columns_;              // of each thread
  std::vector<std::vector<float>> other_sums_;           // gradients of weights and biases of all threads but the first
};

} // namespace dt::bench
