#include "engine/nn/layers/affine/reference_convolution.hpp"

#include "engine/nn/kernels/floats_of.hpp"

#include <algorithm>

namespace dt::nn {
void ReferenceConvolution::plan_forward(Plan& plan)
{
  batch_ = plan.options().batch;
  const auto dims = weight_dims();
  declare(plan, {dims, dnnl::memory::data_type::f32,
                 dims.size() == 4 ? dnnl::memory::format_tag::oihw : dnnl::memory::format_tag::goihw});
  weights_ = weight(plan).weight, weight_gradients_ = weight(plan).gradient;
  if (has_bias()) bias_ = bias(plan).weight, bias_gradients_ = bias(plan).gradient;
  x_ = plan.in_layout(plan.data(input()), plan.image_layout(input().shape), name(), forward_);
  y_ = plan.allocate(plan.image_layout(output().shape));
  forward_.emplace_back(label("forward", batch_flops(plan)), std::vector{x_, y_}, [this] {
#pragma omp parallel for schedule(static)
    for (std::int64_t sample = 0; sample < batch_; ++sample) forward_sample(sample);
  });
  plan.set_data(output(), y_);
}

void ReferenceConvolution::plan_backward(Plan& plan)
{
  dy_ = plan.in_layout(plan.gradient(output(), name(), backward_), plan.image_layout(output().shape), name(), backward_);
  backward_.emplace_back(label("backward weights", batch_flops(plan)), std::vector{x_, dy_}, [this] {
#pragma omp parallel for schedule(static)
    for (std::int64_t channel = 0; channel < output().shape.channels; ++channel) weight_gradients_of(channel);
  });
  gradients_final_ = backward_.size();
  if (!plan.needs_gradient(input())) return;
  dx_ = plan.allocate(plan.image_layout(input().shape));
  backward_.emplace_back(label("backward data", batch_flops(plan)), std::vector{dx_, dy_}, [this] {
#pragma omp parallel for schedule(static)
    for (std::int64_t sample = 0; sample < batch_; ++sample) input_gradients_of(sample);
  });
  plan.add_gradient(input(), dx_);
}

namespace {

// Geometry of a convolution's windows on its input.
struct Windows {
  Shape in, out;
  ConvolutionSpec spec;
  std::int64_t inputs() const { return in.channels / spec.groups; }
  // First input channel that output channel o reads.
  std::int64_t first_input(std::int64_t o) const { return o / (spec.channels / spec.groups) * inputs(); }
  // Calls f(input index, weight index) for all pixels in the window of output pixel (o, h, w).
  template<class F> void each(std::int64_t o, std::int64_t h, std::int64_t w, const F& f) const
  {
    for (std::int64_t i = 0; i < inputs(); ++i)
      for (std::int64_t kh = 0; kh < spec.kernel; ++kh)
        for (std::int64_t kw = 0; kw < spec.kernel; ++kw) {
          const auto y = spec.stride * h + kh - spec.padding, x = spec.stride * w + kw - spec.padding;
          if (y < 0 || y >= in.height || x < 0 || x >= in.width) continue;
          f(((first_input(o) + i) * in.height + y) * in.width + x, ((o * inputs() + i) * spec.kernel + kh) * spec.kernel + kw);
        }
  }
  // Calls f(o, h, w, output index) for the output channels [first, last).
  template<class F> void each_output(std::int64_t first, std::int64_t last, const F& f) const
  {
    for (std::int64_t o = first; o < last; ++o)
      for (std::int64_t h = 0; h < out.height; ++h)
        for (std::int64_t w = 0; w < out.width; ++w) f(o, h, w, (o * out.height + h) * out.width + w);
  }
};

} // namespace

void ReferenceConvolution::forward_sample(std::int64_t sample) const
{
  const Windows windows{input().shape, output().shape, spec()};
  const float *x = floats_of(x_) + sample * windows.in.size(), *weights = floats_of(weights_), *bias = floats_of(bias_);
  float* y = floats_of(y_) + sample * windows.out.size();
  windows.each_output(0, windows.out.channels, [&](std::int64_t o, std::int64_t h, std::int64_t w, std::int64_t at) {
    float sum = bias == nullptr ? 0 : bias[o];
    windows.each(o, h, w, [&](std::int64_t pixel, std::int64_t weight) { sum += weights[weight] * x[pixel]; });
    y[at] = has_relu() ? std::max(sum, 0.0F) : sum;
  });
}

void ReferenceConvolution::weight_gradients_of(std::int64_t channel) const
{
  const Windows windows{input().shape, output().shape, spec()};
  const auto count = windows.inputs() * spec().kernel * spec().kernel;
  float *gradients = floats_of(weight_gradients_), *bias = floats_of(bias_gradients_);
  std::fill_n(gradients + channel * count, count, 0.0F);
  if (bias != nullptr) bias[channel] = 0;
  for (std::int64_t sample = 0; sample < batch_; ++sample) {
    const float *x = floats_of(x_) + sample * windows.in.size(), *dy = floats_of(dy_) + sample * windows.out.size();
    windows.each_output(channel, channel + 1, [&](std::int64_t o, std::int64_t h, std::int64_t w, std::int64_t at) {
      windows.each(o, h, w, [&](std::int64_t pixel, std::int64_t weight) { gradients[weight] += dy[at] * x[pixel]; });
      if (bias != nullptr) bias[channel] += dy[at];
    });
  }
}

void ReferenceConvolution::input_gradients_of(std::int64_t sample) const
{
  const Windows windows{input().shape, output().shape, spec()};
  const float *dy = floats_of(dy_) + sample * windows.out.size(), *weights = floats_of(weights_);
  float* dx = floats_of(dx_) + sample * windows.in.size();
  std::fill_n(dx, windows.in.size(), 0.0F);
  windows.each_output(0, windows.out.channels, [&](std::int64_t o, std::int64_t h, std::int64_t w, std::int64_t at) {
    windows.each(o, h, w, [&](std::int64_t pixel, std::int64_t weight) { dx[pixel] += weights[weight] * dy[at]; });
  });
}

} // namespace dt::nn
