// The layers in double precision, as direct loops over plain arrays: what the fast ones are held against.
#pragma once

#include <cstdint>
#include <vector>

namespace dt::nn::reference {

using Values = std::vector<double>;

// Windows of kernel x kernel over batch x channels x height x width.
struct Windows {
  std::int64_t batch, in_channels, height, width, out_channels, kernel, stride, padding;
  std::int64_t groups = 1; // of a convolution: output channels see only the inputs of their group
  bool ceil = false;       // of a pooling: a window that begins inside counts though it ends outside
  std::int64_t out_height() const { return windows_along(height); }
  std::int64_t out_width() const { return windows_along(width); }
  std::int64_t inputs() const { return batch * in_channels * height * width; }
  std::int64_t outputs() const { return batch * out_channels * out_height() * out_width(); }
  std::int64_t group_inputs() const { return in_channels / groups; }
  std::int64_t products() const { return group_inputs() * kernel * kernel; } // of one output
  std::int64_t weights() const { return out_channels * products(); }

 private:
  std::int64_t windows_along(std::int64_t side) const;
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

// The mean of what lies inside the image.
Values average_pooling(const Windows& shape, const Values& input);
Values average_pooling_gradient(const Windows& shape, const Values& output_gradient);

Values relu(const Values& input);
Values relu_gradient(const Values& output, const Values& output_gradient);

// batch x channels x places.
struct Channels {
  std::int64_t batch, channels, places;
  std::int64_t size() const { return batch * channels * places; }
};

// y = gamma (x - mean) / sqrt(variance + epsilon) + beta; the variance is the biased one.
struct BatchNorm {
  Values output, mean, variance; // by channel
};
BatchNorm batch_norm(const Channels& shape, const Values& input, const Values& gamma, const Values& beta, double epsilon);
struct BatchNormGradients {
  Values input, gamma, beta;
};
BatchNormGradients batch_norm_gradients(const Channels& shape, const Values& input, const Values& gamma,
                                        const Values& output_gradient, double epsilon);

// y[c] = x[c] / (k + alpha / size sum over the size channels about c of x^2)^beta
struct Lrn {
  std::int64_t size;
  double alpha, beta, k;
};
Values lrn(const Channels& shape, const Lrn& lrn, const Values& input);
Values lrn_gradient(const Channels& shape, const Lrn& lrn, const Values& input, const Values& output_gradient);

// Channels of several inputs behind one another, and back.
Values concat(std::int64_t batch, const std::vector<Values>& inputs);
std::vector<Values> concat_gradients(std::int64_t batch, const std::vector<std::int64_t>& sizes, const Values& output_gradient);

// An inner product is a convolution whose window is the whole image.
Windows inner_product(std::int64_t batch, std::int64_t inputs, std::int64_t outputs);

struct Loss {
  double mean;
  Values gradient; // of the logits
};
// smoothing: the share of each target that is spread evenly over all classes.
Loss softmax_cross_entropy(const Values& logits, const std::vector<std::int32_t>& labels, double smoothing = 0);

} // namespace dt::nn::reference
