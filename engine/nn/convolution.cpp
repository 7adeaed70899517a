#include "engine/nn/convolution.hpp"

namespace dt::engine {

Convolution::Convolution(std::string name, Tensor input, Tensor output, const ConvolutionSpec& spec)
    : Affine(std::move(name), input, output, spec.bias),
      spec_(spec), strides_{spec.stride, spec.stride}, padding_{spec.padding, spec.padding}
{
}

dnnl::memory::dims Convolution::weight_dims() const
{
  const auto outputs = spec_.channels / spec_.groups, inputs = input().shape.channels / spec_.groups;
  if (spec_.groups == 1) return {outputs, inputs, spec_.kernel, spec_.kernel};
  return {spec_.groups, outputs, inputs, spec_.kernel, spec_.kernel};
}

std::int64_t Convolution::weight_count() const
{
  return spec_.channels * (input().shape.channels / spec_.groups) * spec_.kernel * spec_.kernel;
}

dnnl::primitive_desc_base Convolution::describe_forward(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  const dnnl::convolution_forward::desc forward(plan.forward_kind(), dnnl::algorithm::convolution_direct,
                                                plan.any_layout(input().shape), any_weights(plan.type()), bias_desc(),
                                                plan.any_layout(output().shape), strides_, padding_, padding_);
  forward_descriptor_ = {forward, attributes, plan.engine()};
  return forward_descriptor_;
}

dnnl::primitive_desc_base Convolution::describe_backward_data(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  const dnnl::convolution_backward_data::desc backward(dnnl::algorithm::convolution_direct, plan.any_layout(input().shape),
                                                       any_weights(plan.type()), plan.any_layout(output().shape), strides_,
                                                       padding_, padding_);
  return dnnl::convolution_backward_data::primitive_desc(backward, attributes, plan.engine(), forward_descriptor_);
}

dnnl::primitive_desc_base Convolution::describe_backward_weights(const Plan& plan, const dnnl::primitive_attr& attributes)
{
  // Given the choice, oneDNN 2.6 takes an AVX2 kernel for inner layers whose channels fill no vector. Its AVX-512 kernel for
  // channels last is 1.6 times as fast (LeNet's conv2, batch 64).
  constexpr std::int64_t vector_floats = 16;
  const bool channels_last = plan.needs_gradient(input()) && input().shape.channels % vector_floats != 0;
  const auto tag = channels_last ? dnnl::memory::format_tag::nhwc : dnnl::memory::format_tag::any;
  const dnnl::convolution_backward_weights::desc backward(
      dnnl::algorithm::convolution_direct, plan.layout(input().shape, tag), any_weights(dnnl::memory::data_type::f32),
      bias_desc(), plan.layout(output().shape, tag), strides_, padding_, padding_);
  return dnnl::convolution_backward_weights::primitive_desc(backward, attributes, plan.engine(), forward_descriptor_);
}

} // namespace dt::engine
