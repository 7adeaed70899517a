#include "engine/nn/layers/lrn.hpp"

namespace dt::nn {

void Lrn::plan_forward(Plan& plan)
{
  source_ = plan.activations(input(), name(), forward_);
  const dnnl::lrn_forward::desc forward(plan.forward_kind(), dnnl::algorithm::lrn_across_channels, source_.get_desc(),
                                        spec().size, static_cast<float>(spec().alpha), static_cast<float>(spec().beta),
                                        static_cast<float>(spec().k));
  forward_descriptor_ = {forward, plan.attributes(), plan.engine()};
  const auto destination = plan.allocate(forward_descriptor_.dst_desc());
  workspace_ = plan.allocate(forward_descriptor_.workspace_desc());
  forward_.emplace_back(label("forward"), forward_descriptor_,
                        Operation::Arguments{{DNNL_ARG_SRC, source_},
                                             {DNNL_ARG_DST, destination},
                                             {DNNL_ARG_WORKSPACE, workspace_},
                                             {DNNL_ARG_SCRATCHPAD, plan.scratchpad(forward_descriptor_)}});
  plan.set_data(output(), destination);
}

void Lrn::plan_backward(Plan& plan)
{
  if (!plan.needs_gradient(input())) return;
  const auto layout = source_.get_desc();
  const dnnl::lrn_backward::desc backward(dnnl::algorithm::lrn_across_channels, layout, layout, spec().size,
                                          static_cast<float>(spec().alpha), static_cast<float>(spec().beta),
                                          static_cast<float>(spec().k));
  const dnnl::lrn_backward::primitive_desc descriptor(backward, plan.attributes(), plan.engine(), forward_descriptor_);
  const auto output_gradient =
      plan.in_layout(plan.gradient(output(), name(), backward_), descriptor.diff_dst_desc(), name(), backward_);
  const auto input_gradient = plan.allocate(descriptor.diff_src_desc());
  backward_.emplace_back(label("backward"), descriptor,
                         Operation::Arguments{{DNNL_ARG_SRC, source_},
                                              {DNNL_ARG_DIFF_DST, output_gradient},
                                              {DNNL_ARG_WORKSPACE, workspace_},
                                              {DNNL_ARG_DIFF_SRC, input_gradient},
                                              {DNNL_ARG_SCRATCHPAD, plan.scratchpad(descriptor)}});
  plan.add_gradient(input(), input_gradient);
}

} // namespace dt::nn
