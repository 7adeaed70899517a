#include "engine/nn/layers/pooling.hpp"

#include <algorithm>

namespace dt::nn {

Pooling::Pooling(Rule rule, std::string name, Tensor input, Tensor output, const PoolingSpec& spec)
    : Layer(std::move(name), {input}, output), rule_(rule),
      spec_(spec), strides_{spec.stride, spec.stride}, kernel_{spec.kernel, spec.kernel}, padding_{spec.padding, spec.padding}
{
  // The padding that the last window needs. It may exceed the padding in front, or be less if rows are dropped.
  const auto behind = [&](std::int64_t in, std::int64_t out) {
    return std::max<std::int64_t>(0, (out - 1) * spec.stride + spec.kernel - in - spec.padding);
  };
  padding_behind_ = {behind(input.shape.height, output.shape.height), behind(input.shape.width, output.shape.width)};
}

Pooling::Pooling(Rule rule, std::string name, Tensor input, Tensor output)
    : Layer(std::move(name), {input}, output), rule_(rule), spec_{.kernel = input.shape.height, .stride = 1}, strides_{1, 1},
      kernel_{input.shape.height, input.shape.width}, padding_{0, 0}, padding_behind_{0, 0}
{
}

dnnl::algorithm Pooling::algorithm() const
{
  return rule_ == Rule::max ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_exclude_padding;
}

void Pooling::plan_forward(Plan& plan)
{
  const auto source = plan.data(input());
  const dnnl::pooling_forward::desc forward(plan.forward_kind(), algorithm(), source.get_desc(), plan.any_layout(output().shape),
                                            strides_, kernel_, padding_, padding_behind_);
  forward_descriptor_ = {forward, plan.attributes(), plan.engine()};
  const auto destination = plan.allocate(forward_descriptor_.dst_desc());
  workspace_ = plan.allocate(forward_descriptor_.workspace_desc());
  forward_.emplace_back(label("forward"), forward_descriptor_,
                        Operation::Arguments{{DNNL_ARG_SRC, source},
                                             {DNNL_ARG_DST, destination},
                                             {DNNL_ARG_WORKSPACE, workspace_},
                                             {DNNL_ARG_SCRATCHPAD, plan.scratchpad(forward_descriptor_)}});
  plan.set_data(output(), destination);
}

void Pooling::plan_backward(Plan& plan)
{
  if (!plan.needs_gradient(input())) return;
  const auto source = forward_descriptor_.src_desc(), destination = forward_descriptor_.dst_desc();
  const dnnl::pooling_backward::desc backward(algorithm(), source, destination, strides_, kernel_, padding_, padding_behind_);
  const dnnl::pooling_backward::primitive_desc descriptor(backward, plan.attributes(), plan.engine(), forward_descriptor_);
  const auto output_gradient =
      plan.in_layout(plan.gradient(output(), name(), backward_), descriptor.diff_dst_desc(), name(), backward_);
  const auto input_gradient = plan.allocate(descriptor.diff_src_desc());
  backward_.emplace_back(label("backward"), descriptor,
                         Operation::Arguments{{DNNL_ARG_DIFF_DST, output_gradient},
                                              {DNNL_ARG_WORKSPACE, workspace_},
                                              {DNNL_ARG_DIFF_SRC, input_gradient},
                                              {DNNL_ARG_SCRATCHPAD, plan.scratchpad(descriptor)}});
  plan.add_gradient(input(), input_gradient);
}

} // namespace dt::nn
