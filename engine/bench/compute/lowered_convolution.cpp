#include "engine/bench/compute/lowered_convolution.hpp"

#include <algorithm>
#include <functional>

namespace dt::bench {
namespace {

using Case = LoweredConvolution::Case;

// Output pixels along one side whose input pixel at place k of the kernel is no padding: [first, last).
struct Inside {
  std::int64_t first, last;
};

Inside inside(const model::ConvolutionSpec& spec, std::int64_t k, std::int64_t in_side, std::int64_t out_side)
{
  Inside found{out_side, out_side};
  for (std::int64_t place = out_side - 1; place >= 0; --place) {
    const auto at = spec.stride * place + k - spec.padding;
    if (at < 0 || at >= in_side) continue;
    if (found.first == out_side) found.last = place + 1;
    found.first = place;
  }
  return found;
}

// A row of output pixels at one place of the kernel.
struct Run {
  std::int64_t column; // index of the row's first pixel in the columns
  std::int64_t image;  // index of the first pixel that is no padding in the image
  Inside inside;       // the row's pixels that are no padding
};

// Calls f(run) in the order of the columns.
template<class F> void each_run(const Case& of, const F& f)
{
  const auto &in = of.input, &out = of.output;
  const auto& spec = of.spec;
  std::int64_t row_begin = 0;
  for (std::int64_t c = 0; c < in.channels; ++c)
    for (std::int64_t kh = 0; kh < spec.kernel; ++kh)
      for (std::int64_t kw = 0; kw < spec.kernel; ++kw) {
        const auto columns = inside(spec, kw, in.width, out.width);
        for (std::int64_t h = 0; h < out.height; ++h, row_begin += out.width) {
          const auto y = spec.stride * h + kh - spec.padding, x = spec.stride * columns.first + kw - spec.padding;
          const bool is_padding = y < 0 || y >= in.height;
          f(Run{row_begin, (c * in.height + y) * in.width + x, is_padding ? Inside{out.width, out.width} : columns});
        }
      }
}

void im2col(const Case& of, const float* image, float* columns)
{
  const auto stride = of.spec.stride, width = of.output.width;
  each_run(of, [&](const Run& run) {
    float* to = columns + run.column;
    std::fill(to, to + run.inside.first, 0.0F);
    if (stride == 1)
      std::copy_n(image + run.image, run.inside.last - run.inside.first, to + run.inside.first);
    else
      for (auto w = run.inside.first; w < run.inside.last; ++w) to[w] = image[run.image + stride * (w - run.inside.first)];
    std::fill(to + run.inside.last, to + width, 0.0F);
  });
}

// The sums of what im2col has copied from each pixel.
void col2im(const Case& of, const float* columns, float* image)
{
  const auto stride = of.spec.stride;
  std::fill_n(image, of.input.size(), 0.0F);
  each_run(of, [&](const Run& run) {
    const float* from = columns + run.column;
    for (auto w = run.inside.first; w < run.inside.last; ++w) image[run.image + stride * (w - run.inside.first)] += from[w];
  });
}

float sum_of(const float* numbers, std::int64_t size)
{
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < size; ++i) sum += numbers[i];
  return sum;
}

} // namespace

LoweredConvolution::LoweredConvolution(const Blas& blas, const Case& of, Arrangement arrangement)
    : blas_(blas), of_(of), arrangement_(arrangement),
      is_pointwise_(of.spec.kernel == 1 && of.spec.stride == 1 && of.spec.padding == 0),
      pixels_(of.output.height * of.output.width), group_outputs_(of.output.channels / of.spec.groups),
      group_products_(of.input.channels / of.spec.groups * of.spec.kernel * of.spec.kernel)
{
  const auto copies = arrangement == Arrangement::images_over_threads ? static_cast<std::size_t>(of.threads) : 1;
  const auto size = of.input.channels * of.spec.kernel * of.spec.kernel * pixels_;
  columns_.assign(copies, std::vector<float>(static_cast<std::size_t>(is_pointwise_ ? 0 : size)));
  other_sums_.assign(copies - 1, std::vector<float>(static_cast<std::size_t>(of.output.channels * (group_products_ + 1))));
}

void LoweredConvolution::each_image(const std::function<void(std::int64_t, std::size_t)>& f) const
{
  if (arrangement_ == Arrangement::image_after_image) {
    blas_.set_threads(of_.threads);
    for (std::int64_t image = 0; image < of_.batch; ++image) f(image, 0);
    return;
  }
  blas_.set_threads(1);
#pragma omp parallel for schedule(static, 1) num_threads(of_.threads)
  for (std::int64_t thread = 0; thread < of_.threads; ++thread)
    for (std::int64_t image = thread; image < of_.batch; image += of_.threads) f(image, static_cast<std::size_t>(thread));
}

const float* LoweredConvolution::columns_of(const float* image, std::size_t thread)
{
  if (is_pointwise_) return image;
  im2col(of_, image, columns_[thread].data());
  return columns_[thread].data();
}

void LoweredConvolution::forward(const float* x, const float* weights, const float* bias, float* y)
{
  each_image([&](std::int64_t image, std::size_t thread) {
    const float* columns = columns_of(x + image * of_.input.size(), thread);
    float* result = y + image * of_.output.size();
    if (bias != nullptr)
      for (std::int64_t o = 0; o < of_.output.channels; ++o) std::fill_n(result + o * pixels_, pixels_, bias[o]);
    for (std::int64_t group = 0; group < of_.spec.groups; ++group)
      blas_.multiply({weights + group * group_outputs_ * group_products_, group_products_},
                     {columns + group * group_products_ * pixels_, pixels_}, group_outputs_, pixels_, group_products_,
                     bias != nullptr, result + group * group_outputs_ * pixels_);
  });
}

void LoweredConvolution::backward_weights(const float* x, const float* dy, float* dweights, float* dbias)
{
  const auto channels = of_.output.channels, weights = channels * group_products_;
  for (auto& sums : other_sums_) std::fill(sums.begin(), sums.end(), 0.0F);
  std::fill_n(dweights, weights, 0.0F);
  if (dbias != nullptr) std::fill_n(dbias, channels, 0.0F);
  each_image([&](std::int64_t image, std::size_t thread) {
    const float *columns = columns_of(x + image * of_.input.size(), thread), *gradient = dy + image * of_.output.size();
    float* sums = thread == 0 ? dweights : other_sums_[thread - 1].data();
    for (std::int64_t group = 0; group < of_.spec.groups; ++group)
      blas_.multiply({gradient + group * group_outputs_ * pixels_, pixels_},
                     {columns + group * group_products_ * pixels_, pixels_, true}, group_outputs_, group_products_, pixels_, true,
                     sums + group * group_outputs_ * group_products_);
    if (dbias == nullptr) return;
    float* bias_sums = thread == 0 ? dbias : sums + weights;
    for (std::int64_t o = 0; o < channels; ++o) bias_sums[o] += sum_of(gradient + o * pixels_, pixels_);
  });
  for (const auto& sums : other_sums_) {
    std::transform(dweights, dweights + weights, sums.begin(), dweights, std::plus<>());
    if (dbias != nullptr) std::transform(dbias, dbias + channels, sums.begin() + weights, dbias, std::plus<>());
  }
}

void LoweredConvolution::backward_data(const float* dy, const float* weights, float* dx)
{
  each_image([&](std::int64_t image, std::size_t thread) {
    const float* gradient = dy + image * of_.output.size();
    float* result = dx + image * of_.input.size();
    float* columns = is_pointwise_ ? result : columns_[thread].data();
    for (std::int64_t group = 0; group < of_.spec.groups; ++group)
      blas_.multiply({weights + group * group_outputs_ * group_products_, group_products_, true},
                     {gradient + group * group_outputs_ * pixels_, pixels_}, group_products_, pixels_, group_outputs_, false,
                     columns + group * group_products_ * pixels_);
    if (!is_pointwise_) col2im(of_, columns, result);
  });
}

} // namespace dt::bench
