#include "engine/nn/max_pooling.hpp"

namespace dt::engine {

using Arguments = std::initializer_list<std::pair<int, dnnl::memory>>;

MaxPooling::MaxPooling(std::string name, Tensor input, Tensor output, const PoolingSpec& spec)
    : Layer(std::move(name), input, output), strides_{spec.stride, spec.stride}, kernel_{spec.kernel, spec.kernel},
      padding_{spec.padding, spec.padding}
{
}

void MaxPooling::plan_forward(Plan& plan)
{
  const auto& source = plan.data(input());
  const dnnl::pooling_forward::desc forward(plan.forward_kind(), dnnl::algorithm::pooling_max, source.get_desc(),
                                            plan.any_layout(output().shape), strides_, kernel_, padding_, padding_);
  forward_descriptor_ = {forward, plan.attributes(), plan.engine()};
  const auto destination = plan.allocate(forward_descriptor_.dst_desc());
  workspace_ = plan.allocate(forward_descriptor_.workspace_desc());
  forward_.emplace_back(dnnl::pooling_forward(forward_descriptor_),
                        Arguments{{DNNL_ARG_SRC, source},
                                  {DNNL_ARG_DST, destination},
                                  {DNNL_ARG_WORKSPACE, workspace_},
                                  {DNNL_ARG_SCRATCHPAD, plan.scratchpad(forward_descriptor_.scratchpad_desc())}});
  plan.set_data(output(), destination);
}

void MaxPooling::plan_backward(Plan& plan)
{
  if (!plan.needs_gradient(input())) return;
  const auto source = forward_descriptor_.src_desc(), destination = forward_descriptor_.dst_desc();
  const dnnl::pooling_backward::desc backward(dnnl::algorithm::pooling_max, source, destination, strides_, kernel_, padding_,
                                              padding_);
  const dnnl::pooling_backward::primitive_desc descriptor(backward, plan.attributes(), plan.engine(), forward_descriptor_);
  const auto output_gradient = plan.in_layout(plan.gradient(output()), descriptor.diff_dst_desc(), backward_);
  const auto input_gradient = plan.allocate(descriptor.diff_src_desc());
  backward_.emplace_back(dnnl::pooling_backward(descriptor),
                         Arguments{{DNNL_ARG_DIFF_DST, output_gradient},
                                   {DNNL_ARG_WORKSPACE, workspace_},
                                   {DNNL_ARG_DIFF_SRC, input_gradient},
                                   {DNNL_ARG_SCRATCHPAD, plan.scratchpad(descriptor.scratchpad_desc())}});
  plan.set_gradient(input(), input_gradient);
}

} // namespace dt::engine
