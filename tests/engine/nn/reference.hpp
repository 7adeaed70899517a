// The layers in double precision, as direct loops over plain arrays: what the fast ones are held against.
#pragma once

#include <cstdint>
#include <vector>

namespace dt::engine::reference {

using Values = std::vector<double>;

// Windows of kernel x kernel over batch x channels x height x width.
struct Windows {
  std::int64_t batch, in_channels, height, width, out_channels, kernel, stride, padding;
  std::int64_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  std::int64_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
  std::int64_t inputs() const { return batch * in_channels * height * width; }
  std::int64_t outputs() const { return batch * out_channels * out_height() * out_width(); }
  std::int64_t weights() const { return out_channels * in_channels * kernel * kernel; }
};

// Gradients of a scalar with respect to what went in.
struct Gradients {
  Values input, weights, bias;
};

Values convolution(const Windows& shape, const Values& input, const Values& weights, const Values& bias);
Gradients convolution_gradients(const Windows& shape, const Values& input, const Values& weights, const Values& output_gradient);

// in_channels == out_channels. The first of equal values wins.
Values max_pooling(const Windows& shape, const Values& input);
Values max_pooling_gradient(const Windows& shape, const Values& input, const Values& output_gradient);

Values relu(const Values& input);
Values relu_gradient(const Values& output, const Values& output_gradient);

// An inner product is a convolution whose window is the whole image.
Windows inner_product(std::int64_t batch, std::int64_t inputs, std::int64_t outputs);

struct Loss {
  double mean;
  Values gradient; // of the logits
};
Loss softmax_cross_entropy(const Values& logits, const std::vector<std::int32_t>& labels);

} // namespace dt::engine::reference
