#include "engine/nn/layers/winograd/winograd_convolution.hpp"

#include "engine/nn/kernels/floats_of.hpp"

#include <algorithm>

namespace dt::nn {
namespace {

using Tag = dnnl::memory::format_tag;

} // namespace

WinogradConvolution::WinogradConvolution(const model::Layer& description, Precision precision)
    : Convolution(description), precision_(precision), tiling_(spec().kernel, precision)
{
}

bool WinogradConvolution::supports(const ConvolutionSpec& spec, std::int64_t input_channels)
{
  return (spec.kernel == 3 || spec.kernel == 5) && spec.padding < spec.kernel && spec.stride == 1 && spec.groups == 1 &&
         spec.channels % winograd_line == 0 && input_channels % winograd_line == 0;
}

std::unique_ptr<Convolution> make_convolution(const model::Layer& description, bool winograd, Precision precision)
{
  if (winograd && WinogradConvolution::supports(description.as<ConvolutionSpec>(), description.inputs[0].shape.channels))
    return std::make_unique<WinogradConvolution>(description, precision);
  return std::make_unique<Convolution>(description);
}

bool WinogradConvolution::suits() const
{
  constexpr std::int64_t fewest_channels = 32;
  const std::int64_t fewest_pixels = tiling_.window() == 5 ? 8 : 4;
  return precision_ == Precision::fp32 && std::min(spec().channels, input().shape.channels) >= fewest_channels &&
         std::min(output().shape.height, output().shape.width) >= fewest_pixels;
}

LayerAlgorithms WinogradConvolution::rule() const
{
  const auto rule = suits() ? Algorithm::winograd : Algorithm::direct;
  return {rule, rule, rule};
}

dnnl::memory::desc WinogradConvolution::images_of(const Plan& plan, const Shape& shape) const
{
  return plan.layout(shape, tiling_.block() == 16 ? Tag::nChw16c : Tag::nChw8c);
}

dnnl::memory::desc WinogradConvolution::block_weights() const
{
  return {weight_dims(), dnnl::memory::data_type::f32, Tag::OIhw16i16o};
}

void WinogradConvolution::plan_forward(Plan& plan)
{
  if (algorithms(plan).forward != Algorithm::winograd) return Convolution::plan_forward(plan);
  if (plan.training()) describe_forward(plan, plan.attributes()); // oneDNN's backward primitives need it
  planned_.forward = Algorithm::winograd;
  declare(plan, block_weights());
  source_ = plan.data(input());
  const FilterMemories memories{plan.in_layout(source_, images_of(plan, input().shape), name(), forward_),
                                plan.in_layout(weight(plan).weight, block_weights(), name(), forward_),
                                has_bias() ? bias(plan).weight : dnnl::memory(), plan.allocate(images_of(plan, output().shape))};
  plan.set_data(output(), memories.results);
  forward_.push_back(filter_operation(
      "forward", plan, {.from = input().shape, .to = output().shape, .padding = spec().padding, .rectify = has_relu()},
      memories));
}

// The gradient of the input is the convolution of that of the output with the windows turned by 180 degrees.
void WinogradConvolution::plan_backward_data(Plan& plan, const dnnl::memory& output_gradient)
{
  if (algorithms(plan).backward_data != Algorithm::winograd) return Convolution::plan_backward_data(plan, output_gradient);
  planned_.backward_data = Algorithm::winograd;
  const FilterMemories memories{plan.in_layout(output_gradient, images_of(plan, output().shape), name(), backward_),
                                plan.in_layout(weight(plan).weight, block_weights(), name(), backward_),
                                {},
                                plan.allocate(images_of(plan, input().shape))};
  plan.add_gradient(input(), memories.results);
  backward_.push_back(filter_operation(
      "backward data", plan,
      {.from = output().shape, .to = input().shape, .padding = tiling_.window() - 1 - spec().padding, .rotated = true},
      memories));
}

Operation WinogradConvolution::filter_operation(const char* what, Plan& plan, const WinogradFilter::Case& of,
                                                const FilterMemories& m) const
{
  auto whole = of;
  whole.batch = plan.options().batch, whole.threads = plan.options().threads;
  const WinogradFilter filter(tiling_, whole);
  const auto buffer = plan.allocate_floats(filter.buffer_floats());
  return {label(what, batch_flops(plan)), std::vector{m.images, m.weights, m.results, buffer}, [filter, m, buffer] {
            filter.run(m.images.get_data_handle(), floats_of(m.weights), floats_of(m.bias), m.results.get_data_handle(),
                       floats_of(buffer));
          }};
}

void WinogradConvolution::plan_backward_weights(Plan& plan, const dnnl::memory& output_gradient)
{
  if (algorithms(plan).backward_weights != Algorithm::winograd) return Convolution::plan_backward_weights(plan, output_gradient);
  planned_.backward_weights = Algorithm::winograd;
  const auto images = plan.in_layout(source_, images_of(plan, input().shape), name(), backward_);
  const auto gradient = plan.in_layout(output_gradient, images_of(plan, output().shape), name(), backward_);
  const auto weight_gradient = plan.staging_for(weight(plan).gradient, block_weights());
  const WinogradWeightSums sums(tiling_, {.input = input().shape,
                                          .output = output().shape,
                                          .padding = spec().padding,
                                          .batch = plan.options().batch,
                                          .threads = plan.options().threads});
  const auto buffer = plan.allocate_floats(sums.buffer_floats());
  backward_.emplace_back(label("backward weights", batch_flops(plan)), std::vector{images, gradient, weight_gradient, buffer},
                         [sums, images, gradient, weight_gradient, buffer] {
                           sums.run(images.get_data_handle(), gradient.get_data_handle(), floats_of(weight_gradient),
                                    floats_of(buffer));
                         });
  plan.deliver(weight_gradient, weight(plan).gradient, name(), backward_);
  plan_bias_gradient(plan, gradient, tiling_.block());
}

} // namespace dt::nn
