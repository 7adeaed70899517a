#include "engine/nn/layers/affine/reference_convolution.hpp"

#include "core/maths/function_clones.hpp"
#include "engine/nn/kernels/floats_of.hpp"

#include <algorithm>
#include <numeric>

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

// The pairs of an output pixel (h, w) and the input pixel (s h + kh - p, s w + kw - p) of a plane each, for one place (kh, kw) of
// the kernel; without those whose input pixel is padding.
struct Pairs {
  std::int64_t rows, columns;       // of output pixels
  std::int64_t out_first, in_first; // index of the first pair's pixels in their planes
  std::int64_t out_row, in_row;     // from the pixel of one row to that of the next row
  std::int64_t stride;              // between input pixels of a row
};

// Calls f(output index, input index) for all pairs. The innermost loop runs over the pixels of a row, so that compilers
// vectorise.
template<class F> void each_pair(const Pairs& pairs, const F& f)
{
  for (std::int64_t row = 0; row < pairs.rows; ++row) {
    const auto out = pairs.out_first + row * pairs.out_row, in = pairs.in_first + row * pairs.in_row;
    if (pairs.stride == 1)
      for (std::int64_t column = 0; column < pairs.columns; ++column) f(out + column, in + column);
    else
      for (std::int64_t column = 0; column < pairs.columns; ++column) f(out + column, in + pairs.stride * column);
  }
}

DT_CLONES void add_forward(float* __restrict y, const float* __restrict x, const Pairs& pairs, float weight)
{
  each_pair(pairs, [&](std::int64_t out, std::int64_t in) { y[out] += weight * x[in]; });
}

DT_CLONES void add_backward(float* __restrict dx, const float* __restrict dy, const Pairs& pairs, float weight)
{
  each_pair(pairs, [&](std::int64_t out, std::int64_t in) { dx[in] += weight * dy[out]; });
}

// `stride` is constant 1 where it can be, so that compilers vectorise.
inline float row_products(const float* __restrict out, const float* __restrict in, std::int64_t columns, std::int64_t stride)
{
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t column = 0; column < columns; ++column) sum += out[column] * in[stride * column];
  return sum;
}

DT_CLONES float products(const float* dy, const float* x, const Pairs& pairs)
{
  float sum = 0;
  for (std::int64_t row = 0; row < pairs.rows; ++row) {
    const float *out = dy + pairs.out_first + row * pairs.out_row, *in = x + pairs.in_first + row * pairs.in_row;
    sum += pairs.stride == 1 ? row_products(out, in, pairs.columns, 1) : row_products(out, in, pairs.columns, pairs.stride);
  }
  return sum;
}

// Output pixels along one side whose input pixel at place k of the kernel is no padding: [first, last).
struct Inside {
  std::int64_t first, last;
};

Inside inside(const ConvolutionSpec& spec, std::int64_t k, std::int64_t in_side, std::int64_t out_side)
{
  const auto before = spec.padding - k, room = in_side - 1 + before;
  const auto first = before > 0 ? (before + spec.stride - 1) / spec.stride : 0;
  return {first, room < 0 ? first : std::max(first, std::min(out_side, room / spec.stride + 1))};
}

// Geometry of a convolution's windows on its input.
struct Windows {
  Shape in, out;
  ConvolutionSpec spec;
  std::int64_t inputs() const { return in.channels / spec.groups; }
  std::int64_t in_plane() const { return in.height * in.width; }
  std::int64_t out_plane() const { return out.height * out.width; }
  // First input channel that output channel o reads.
  std::int64_t first_input(std::int64_t o) const { return o / (spec.channels / spec.groups) * inputs(); }
  Pairs pairs(std::int64_t kh, std::int64_t kw) const
  {
    const auto h = inside(spec, kh, in.height, out.height), w = inside(spec, kw, in.width, out.width);
    return {.rows = h.last - h.first,
            .columns = w.last - w.first,
            .out_first = h.first * out.width + w.first,
            .in_first = (spec.stride * h.first + kh - spec.padding) * in.width + spec.stride * w.first + kw - spec.padding,
            .out_row = out.width,
            .in_row = spec.stride * in.width,
            .stride = spec.stride};
  }
  // Calls f(input channel, weight index, pairs) for all weights of output channel o.
  template<class F> void each_weight(std::int64_t o, const F& f) const
  {
    for (std::int64_t i = 0; i < inputs(); ++i)
      for (std::int64_t kh = 0; kh < spec.kernel; ++kh)
        for (std::int64_t kw = 0; kw < spec.kernel; ++kw)
          f(first_input(o) + i, ((o * inputs() + i) * spec.kernel + kh) * spec.kernel + kw, pairs(kh, kw));
  }
};

} // namespace

void ReferenceConvolution::forward_sample(std::int64_t sample) const
{
  const Windows windows{input().shape, output().shape, spec()};
  const float *x = floats_of(x_) + sample * windows.in.size(), *weights = floats_of(weights_), *bias = floats_of(bias_);
  for (std::int64_t o = 0; o < windows.out.channels; ++o) {
    float* y = floats_of(y_) + sample * windows.out.size() + o * windows.out_plane();
    std::fill_n(y, windows.out_plane(), bias == nullptr ? 0.0F : bias[o]);
    windows.each_weight(o, [&](std::int64_t i, std::int64_t weight, const Pairs& pairs) {
      add_forward(y, x + i * windows.in_plane(), pairs, weights[weight]);
    });
    if (has_relu()) std::transform(y, y + windows.out_plane(), y, [](float sum) { return std::max(sum, 0.0F); });
  }
}

void ReferenceConvolution::weight_gradients_of(std::int64_t channel) const
{
  const Windows windows{input().shape, output().shape, spec()};
  const auto count = windows.inputs() * spec().kernel * spec().kernel;
  float *gradients = floats_of(weight_gradients_), *bias = floats_of(bias_gradients_);
  std::fill_n(gradients + channel * count, count, 0.0F);
  if (bias != nullptr) bias[channel] = 0;
  for (std::int64_t sample = 0; sample < batch_; ++sample) {
    const float* x = floats_of(x_) + sample * windows.in.size();
    const float* dy = floats_of(dy_) + sample * windows.out.size() + channel * windows.out_plane();
    windows.each_weight(channel, [&](std::int64_t i, std::int64_t weight, const Pairs& pairs) {
      gradients[weight] += products(dy, x + i * windows.in_plane(), pairs);
    });
    if (bias != nullptr) bias[channel] += std::accumulate(dy, dy + windows.out_plane(), 0.0F);
  }
}

void ReferenceConvolution::input_gradients_of(std::int64_t sample) const
{
  const Windows windows{input().shape, output().shape, spec()};
  const float *dy = floats_of(dy_) + sample * windows.out.size(), *weights = floats_of(weights_);
  float* dx = floats_of(dx_) + sample * windows.in.size();
  std::fill_n(dx, windows.in.size(), 0.0F);
  for (std::int64_t o = 0; o < windows.out.channels; ++o)
    windows.each_weight(o, [&](std::int64_t i, std::int64_t weight, const Pairs& pairs) {
      add_backward(dx + i * windows.in_plane(), dy + o * windows.out_plane(), pairs, weights[weight]);
    });
}

} // namespace dt::nn
