#include "engine/nn/layers/affine/convolution.hpp"

#include "engine/nn/kernels/block_products.hpp"
#include "engine/nn/kernels/floats_of.hpp"
#include "engine/nn/layers/affine/weight_sums.hpp"

#include <algorithm>

namespace dt::nn {

Convolution::Convolution(const model::Layer& description)
    : Affine(description, description.as<ConvolutionSpec>().bias), strides_{spec().stride, spec().stride}, padding_{
                                                                                                               spec().padding,
                                                                                                               spec().padding}
{
}

dnnl::memory::dims Convolution::weight_dims() const
{
  const auto& s = spec();
  const auto outputs = s.channels / s.groups, inputs = input().shape.channels / s.groups;
  if (s.groups == 1) return {outputs, inputs, s.kernel, s.kernel};
  return {s.groups, outputs, inputs, s.kernel, s.kernel};
}

LayerAlgorithms Convolution::rule() const { return {}; }

LayerAlgorithms Convolution::algorithms(const Plan& plan) const
{
  const auto& given = plan.options().algorithms;
  const auto found = given.find(name());
  return found != given.end() ? found->second : rule();
}

namespace {

using Tag = dnnl::memory::format_tag;

// Returns describe(layout of the activations) for the wanted algorithm, or for direct sums in `layout` if oneDNN does not
// implement the wanted one for this shape on this processor. `used` becomes the algorithm of the two.
template<class Describe> auto described(Algorithm wanted, Tag layout, Algorithm& used, const Describe& describe)
{
  if (wanted == Algorithm::channels_last) {
    used = wanted;
    try {
      return describe(Tag::nhwc);
    } catch (const dnnl::error& error) {
      if (error.status != dnnl_unimplemented) throw;
    }
  }
  used = Algorithm::direct;
  return describe(layout);
}

} // namespace

dnnl::primitive_desc_base Convolution::describe_forward(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  const auto describe = [&](Tag layout) {
    // forward_training also for an evaluation, which shares the weights of a training in their layout.
    const dnnl::convolution_forward::desc forward(dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
                                                  plan.layout(input().shape, layout), any_weights(plan.type()), bias_desc(),
                                                  plan.layout(output().shape, layout), strides_, padding_, padding_);
    return dnnl::convolution_forward::primitive_desc(forward, attributes, plan.engine());
  };
  forward_descriptor_ = described(algorithms(plan).forward, Tag::any, planned_.forward, describe);
  return forward_descriptor_;
}

Convolution::Layouts Convolution::preferred_layouts(const Plan& plan)
{
  const auto forward = describe_forward(plan, plan.attributes());
  return {forward.src_desc(0), forward.dst_desc(0)};
}

dnnl::primitive_desc_base Convolution::describe_backward_data(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  return described(algorithms(plan).backward_data, Tag::any, planned_.backward_data, [&](Tag layout) {
    const dnnl::convolution_backward_data::desc backward(dnnl::algorithm::convolution_direct, plan.layout(input().shape, layout),
                                                         any_weights(plan.type()), plan.layout(output().shape, layout), strides_,
                                                         padding_, padding_);
    return dnnl::convolution_backward_data::primitive_desc(backward, attributes, plan.engine(), forward_descriptor_);
  });
}

dnnl::primitive_desc_base Convolution::describe_backward_weights(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  // With a free choice, oneDNN 2.6 selects an AVX2 kernel for inner layers whose channels do not fill a vector. Its AVX-512
  // kernel for channels last is 1.6 times as fast (LeNet's conv2, batch 64).
  constexpr std::int64_t vector_floats = 16;
  const bool partly_filled = plan.needs_gradient(input()) && input().shape.channels % vector_floats != 0;
  const auto describe = [&](Tag layout) {
    const dnnl::convolution_backward_weights::desc backward(
        dnnl::algorithm::convolution_direct, plan.layout(input().shape, layout), any_weights(dnnl::memory::data_type::f32),
        bias_desc(), plan.layout(output().shape, layout), strides_, padding_, padding_);
    return dnnl::convolution_backward_weights::primitive_desc(backward, attributes, plan.engine(), forward_descriptor_);
  };
  return described(algorithms(plan).backward_weights, partly_filled ? Tag::nhwc : Tag::any, planned_.backward_weights, describe);
}

namespace {

// sums[channel] = sum over all pixels of a batch; T: float or Bf16.
template<class T> void sum_pixels(const T* images, const Shape& shape, std::int64_t batch, std::int64_t block, float* sums)
{
  const auto pixels = shape.height * shape.width;
#pragma omp parallel for schedule(static)
  for (std::int64_t channel = 0; channel < shape.channels; channel += block) {
    std::fill_n(sums + channel, block, 0.0F);
    for (std::int64_t image = 0; image < batch; ++image)
      add_pixels(images + (image * shape.channels + channel) * pixels, pixels, block, sums + channel);
  }
}

} // namespace

// Uses WeightSums in place of oneDNN's direct sums where it supports the convolution.
void Convolution::plan_backward_weights(Plan& plan, const dnnl::memory& output_gradient)
{
  const bool reads_images = !plan.needs_gradient(input());
  if (plan.options().precision != Precision::fp32 || algorithms(plan).backward_weights == Algorithm::channels_last ||
      !WeightSums::supports(spec(), input().shape.channels, reads_images))
    return Affine::plan_backward_weights(plan, output_gradient);
  planned_.backward_weights = Algorithm::direct;
  const WeightSums sums(spec(), input().shape, output().shape, plan.options().batch, plan.options().threads);
  const auto images = plan.in_layout(source_, plan.layout(input().shape, sums.images_layout()), name(), backward_);
  const auto gradient = plan.in_layout(output_gradient, plan.layout(output().shape, sums.gradient_layout()), name(), backward_);
  const dnnl::memory::desc layout(weight_dims(), dnnl::memory::data_type::f32, sums.weights_layout());
  const auto weight_gradient = plan.staging_for(weight(plan).gradient, layout);
  std::vector uses{images, gradient, weight_gradient};
  dnnl::memory buffer;
  if (sums.buffer_floats() > 0) uses.push_back(buffer = plan.allocate_floats(sums.buffer_floats()));
  backward_.emplace_back(label("backward weights", batch_flops(plan)), uses, [sums, images, gradient, buffer, weight_gradient] {
    sums.run(floats_of(images), floats_of(gradient), floats_of(buffer), floats_of(weight_gradient));
  });
  plan.deliver(weight_gradient, weight(plan).gradient, name(), backward_);
  plan_bias_gradient(plan, gradient, channel_block());
}

void Convolution::plan_bias_gradient(Plan& plan, const dnnl::memory& gradient, std::int64_t block)
{
  if (!has_bias()) return;
  const bool half = plan.options().precision == Precision::bf16;
  backward_.emplace_back(label("backward bias"), std::vector{gradient},
                         [this, half, gradient, block, to = bias(plan).gradient, batch = plan.options().batch] {
                           const auto sum = [&](const auto* numbers) {
                             sum_pixels(numbers, output().shape, batch, block, floats_of(to));
                           };
                           half ? sum(static_cast<const Bf16*>(gradient.get_data_handle())) : sum(floats_of(gradient));
                         });
}

} // namespace dt::nn
