#include "tests/engine/nn/reference.hpp"

#include <cmath>

namespace dt::nn::reference {
namespace {

std::size_t at(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t size_b, std::int64_t size_c,
               std::int64_t size_d)
{
  return static_cast<std::size_t>(((a * size_b + b) * size_c + c) * size_d + d);
}

std::size_t input_at(const Windows& s, std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x)
{
  return at(n, c, y, x, s.in_channels, s.height, s.width);
}

// visit(sample, output channel, row, column, index) for every output.
template<class Visit> void for_outputs(const Windows& s, Visit visit)
{
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t o = 0; o < s.out_channels; ++o)
      for (std::int64_t y = 0; y < s.out_height(); ++y)
        for (std::int64_t x = 0; x < s.out_width(); ++x)
          visit(n, o, y, x, at(n, o, y, x, s.out_channels, s.out_height(), s.out_width()));
}

// visit(kernel row, kernel column, row, column) for the pixels of output (y, x)'s window that are inside the image.
template<class Visit> void for_window(const Windows& s, std::int64_t y, std::int64_t x, Visit visit)
{
  for (std::int64_t ky = 0; ky < s.kernel; ++ky)
    for (std::int64_t kx = 0; kx < s.kernel; ++kx) {
      const auto row = y * s.stride + ky - s.padding, column = x * s.stride + kx - s.padding;
      if (row >= 0 && row < s.height && column >= 0 && column < s.width) visit(ky, kx, row, column);
    }
}

// visit(output, input, weight) for every product of a convolution.
template<class Visit> void for_products(const Windows& s, Visit visit)
{
  for_outputs(s, [&](auto n, auto o, auto y, auto x, std::size_t out) {
    const auto first = o / (s.out_channels / s.groups) * s.group_inputs();
    for (std::int64_t c = 0; c < s.group_inputs(); ++c)
      for_window(s, y, x, [&](auto ky, auto kx, auto row, auto column) {
        visit(out, input_at(s, n, first + c, row, column), at(o, c, ky, kx, s.group_inputs(), s.kernel, s.kernel));
      });
  });
}

// visit(output, winning input)
template<class Visit> void for_winners(const Windows& s, const Values& input, Visit visit)
{
  for_outputs(s, [&](auto n, auto c, auto y, auto x, std::size_t out) {
    auto best = input.size();
    for_window(s, y, x, [&](auto, auto, auto row, auto column) {
      const auto candidate = input_at(s, n, c, row, column);
      if (best == input.size() || input[candidate] > input[best]) best = candidate;
    });
    visit(out, best);
  });
}

// visit(output, input, pixels of the window) for the pixels that an average is taken of.
template<class Visit> void for_averages(const Windows& s, Visit visit)
{
  for_outputs(s, [&](auto n, auto c, auto y, auto x, std::size_t out) {
    int pixels = 0;
    for_window(s, y, x, [&](auto, auto, auto, auto) { ++pixels; });
    for_window(s, y, x, [&](auto, auto, auto row, auto column) { visit(out, input_at(s, n, c, row, column), pixels); });
  });
}

// visit(channel, index) for every number.
template<class Visit> void for_channels(const Channels& s, Visit visit)
{
  for (std::int64_t i = 0; i < s.size(); ++i)
    visit(static_cast<std::size_t>(i / s.places % s.channels), static_cast<std::size_t>(i));
}

// visit(place in the channel, one channel's x at that place, a neighbour's) for all channels within size / 2.
template<class Visit> void for_neighbours(const Channels& s, std::int64_t size, Visit visit)
{
  for (std::int64_t i = 0; i < s.size(); ++i) {
    const auto channel = i / s.places % s.channels;
    for (auto other = channel - size / 2; other <= channel + size / 2; ++other)
      if (other >= 0 && other < s.channels)
        visit(static_cast<std::size_t>(i), static_cast<std::size_t>(i + (other - channel) * s.places));
  }
}

Values zeros(std::int64_t size) { return Values(static_cast<std::size_t>(size), 0.0); }

} // namespace

std::int64_t Windows::windows_along(std::int64_t side) const
{
  const auto room = side + 2 * padding - kernel;
  const auto windows = (ceil ? room + stride - 1 : room) / stride + 1;
  return ceil && (windows - 1) * stride >= side + padding ? windows - 1 : windows;
}

Values convolution(const Windows& s, const Values& input, const Values& weights, const Values& bias)
{
  auto output = zeros(s.outputs());
  for_outputs(s, [&](auto, auto o, auto, auto, std::size_t out) { output[out] = bias[static_cast<std::size_t>(o)]; });
  for_products(s, [&](auto out, auto in, auto w) { output[out] += input[in] * weights[w]; });
  return output;
}

Gradients convolution_gradients(const Windows& s, const Values& input, const Values& weights, const Values& output_gradient)
{
  Gradients gradients{zeros(s.inputs()), zeros(s.weights()), zeros(s.out_channels)};
  for_outputs(
      s, [&](auto, auto o, auto, auto, std::size_t out) { gradients.bias[static_cast<std::size_t>(o)] += output_gradient[out]; });
  for_products(s, [&](auto out, auto in, auto w) {
    gradients.input[in] += output_gradient[out] * weights[w];
    gradients.weights[w] += output_gradient[out] * input[in];
  });
  return gradients;
}

Values max_pooling(const Windows& s, const Values& input)
{
  auto output = zeros(s.outputs());
  for_winners(s, input, [&](auto out, auto in) { output[out] = input[in]; });
  return output;
}

Values max_pooling_gradient(const Windows& s, const Values& input, const Values& output_gradient)
{
  auto gradient = zeros(s.inputs());
  for_winners(s, input, [&](auto out, auto in) { gradient[in] += output_gradient[out]; });
  return gradient;
}

Values average_pooling(const Windows& s, const Values& input)
{
  auto output = zeros(s.outputs());
  for_averages(s, [&](auto out, auto in, int pixels) { output[out] += input[in] / pixels; });
  return output;
}

Values average_pooling_gradient(const Windows& s, const Values& output_gradient)
{
  auto gradient = zeros(s.inputs());
  for_averages(s, [&](auto out, auto in, int pixels) { gradient[in] += output_gradient[out] / pixels; });
  return gradient;
}

Values relu(const Values& input)
{
  auto output = input;
  for (auto& value : output) value = value > 0 ? value : 0;
  return output;
}

Values relu_gradient(const Values& output, const Values& output_gradient)
{
  auto gradient = output_gradient;
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = output[i] > 0 ? gradient[i] : 0;
  return gradient;
}

Windows inner_product(std::int64_t batch, std::int64_t inputs, std::int64_t outputs)
{
  return {batch, inputs, 1, 1, outputs, 1, 1, 0};
}

BatchNorm batch_norm(const Channels& s, const Values& input, const Values& gamma, const Values& beta, double epsilon)
{
  const auto n = static_cast<double>(s.batch * s.places);
  BatchNorm norm{input, zeros(s.channels), zeros(s.channels)};
  for_channels(s, [&](auto c, auto i) { norm.mean[c] += input[i] / n; });
  for_channels(s, [&](auto c, auto i) { norm.variance[c] += (input[i] - norm.mean[c]) * (input[i] - norm.mean[c]) / n; });
  for_channels(s, [&](auto c, auto i) {
    norm.output[i] = gamma[c] * (input[i] - norm.mean[c]) / std::sqrt(norm.variance[c] + epsilon) + beta[c];
  });
  return norm;
}

// With h = (x - mean) / sqrt(variance + epsilon): dL/dx = gamma / sqrt(…) (d - E[d] - h E[d h]).
BatchNormGradients batch_norm_gradients(const Channels& s, const Values& input, const Values& gamma,
                                        const Values& output_gradient, double epsilon)
{
  const auto n = static_cast<double>(s.batch * s.places);
  const auto unit = Values(static_cast<std::size_t>(s.channels), 1.0);
  const auto norm = batch_norm(s, input, unit, zeros(s.channels), epsilon);
  BatchNormGradients gradients{input, zeros(s.channels), zeros(s.channels)};
  for_channels(s, [&](auto c, auto i) {
    gradients.gamma[c] += output_gradient[i] * norm.output[i];
    gradients.beta[c] += output_gradient[i];
  });
  for_channels(s, [&](auto c, auto i) {
    gradients.input[i] = gamma[c] / std::sqrt(norm.variance[c] + epsilon) *
                         (output_gradient[i] - gradients.beta[c] / n - norm.output[i] * gradients.gamma[c] / n);
  });
  return gradients;
}

namespace {

// k + alpha / size sum of x^2, for every number.
Values lrn_sums(const Channels& s, const Lrn& lrn, const Values& input)
{
  Values sums(input.size(), lrn.k);
  for_neighbours(s, lrn.size,
                 [&](auto i, auto j) { sums[i] += lrn.alpha / static_cast<double>(lrn.size) * input[j] * input[j]; });
  return sums;
}

} // namespace

Values lrn(const Channels& s, const Lrn& lrn, const Values& input)
{
  auto output = lrn_sums(s, lrn, input);
  for (std::size_t i = 0; i < output.size(); ++i) output[i] = input[i] * std::pow(output[i], -lrn.beta);
  return output;
}

Values lrn_gradient(const Channels& s, const Lrn& lrn, const Values& input, const Values& output_gradient)
{
  const auto sums = lrn_sums(s, lrn, input);
  Values gradient(input.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = output_gradient[i] * std::pow(sums[i], -lrn.beta);
  const double factor = -2 * lrn.beta * lrn.alpha / static_cast<double>(lrn.size);
  for_neighbours(s, lrn.size, [&](auto i, auto j) {
    gradient[j] += factor * input[j] * output_gradient[i] * input[i] * std::pow(sums[i], -lrn.beta - 1);
  });
  return gradient;
}

Values concat(std::int64_t batch, const std::vector<Values>& inputs)
{
  Values output;
  for (std::int64_t n = 0; n < batch; ++n)
    for (const auto& input : inputs) {
      const auto size = static_cast<std::int64_t>(input.size()) / batch;
      output.insert(output.end(), input.begin() + n * size, input.begin() + (n + 1) * size);
    }
  return output;
}

std::vector<Values> concat_gradients(std::int64_t batch, const std::vector<std::int64_t>& sizes, const Values& output_gradient)
{
  std::vector<Values> gradients(sizes.size());
  auto next = output_gradient.begin();
  for (std::int64_t n = 0; n < batch; ++n)
    for (std::size_t i = 0; i < sizes.size(); next += sizes[i], ++i)
      gradients[i].insert(gradients[i].end(), next, next + sizes[i]);
  return gradients;
}

Loss softmax_cross_entropy(const Values& logits, const std::vector<std::int32_t>& labels, double smoothing)
{
  const auto classes = logits.size() / labels.size();
  const auto samples = static_cast<double>(labels.size());
  Loss loss{0, logits};
  for (std::size_t n = 0; n < labels.size(); ++n) {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(logits[n * classes + c]);
    for (std::size_t c = 0; c < classes; ++c) {
      const auto i = n * classes + c;
      const double spread = smoothing / static_cast<double>(classes);
      const double target = static_cast<std::size_t>(labels[n]) == c ? 1 - smoothing + spread : spread;
      loss.gradient[i] = (std::exp(logits[i]) / sum - target) / samples;
      loss.mean += target * (std::log(sum) - logits[i]) / samples;
    }
  }
  return loss;
}

} // namespace dt::nn::reference
