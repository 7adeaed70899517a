#include "tests/engine/nn/reference.hpp"

#include <cmath>
#include <functional>

namespace dt::engine::reference {
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
    for (std::int64_t c = 0; c < s.in_channels; ++c)
      for_window(s, y, x, [&](auto ky, auto kx, auto row, auto column) {
        visit(out, input_at(s, n, c, row, column), at(o, c, ky, kx, s.in_channels, s.kernel, s.kernel));
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

Values zeros(std::int64_t size) { return Values(static_cast<std::size_t>(size), 0.0); }

} // namespace

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

Loss softmax_cross_entropy(const Values& logits, const std::vector<std::int32_t>& labels)
{
  const auto classes = logits.size() / labels.size();
  const auto samples = static_cast<double>(labels.size());
  Loss loss{0, logits};
  for (std::size_t n = 0; n < labels.size(); ++n) {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(logits[n * classes + c]);
    for (std::size_t c = 0; c < classes; ++c) loss.gradient[n * classes + c] = std::exp(logits[n * classes + c]) / sum / samples;
    const auto label = n * classes + static_cast<std::size_t>(labels[n]);
    loss.gradient[label] -= 1 / samples;
    loss.mean += (std::log(sum) - logits[label]) / samples;
  }
  return loss;
}

} // namespace dt::engine::reference
