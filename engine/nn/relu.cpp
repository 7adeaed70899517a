#include "engine/nn/relu.hpp"

namespace dt::engine {

using Arguments = std::initializer_list<std::pair<int, dnnl::memory>>;

namespace {

dnnl::eltwise_forward::primitive_desc describe_forward(const Plan& plan, const dnnl::memory::desc& layout)
{
  const dnnl::eltwise_forward::desc forward(plan.forward_kind(), dnnl::algorithm::eltwise_relu, layout, 0);
  return {forward, plan.attributes(), plan.engine()};
}

} // namespace

void Relu::plan_forward(Plan& plan)
{
  const auto& source = plan.data(input());
  plan.set_data(output(), source);
  if (fused_) return;
  const auto descriptor = describe_forward(plan, source.get_desc());
  const auto destination = plan.allocate(descriptor.dst_desc());
  forward_.emplace_back(dnnl::eltwise_forward(descriptor),
                        Arguments{{DNNL_ARG_SRC, source},
                                  {DNNL_ARG_DST, destination},
                                  {DNNL_ARG_SCRATCHPAD, plan.scratchpad(descriptor.scratchpad_desc())}});
  plan.set_data(output(), destination);
}

// dL/dx = dL/dy where y > 0, else 0; in place.
void Relu::plan_backward(Plan& plan)
{
  const auto& result = plan.data(output());
  const auto gradient = plan.in_layout(plan.gradient(output()), result.get_desc(), backward_);
  const dnnl::eltwise_backward::desc backward(dnnl::algorithm::eltwise_relu_use_dst_for_bwd, result.get_desc(), result.get_desc(),
                                              0);
  const dnnl::eltwise_forward::desc forward(dnnl::prop_kind::forward_training, dnnl::algorithm::eltwise_relu_use_dst_for_bwd,
                                            result.get_desc(), 0);
  const dnnl::eltwise_forward::primitive_desc hint(forward, plan.attributes(), plan.engine());
  const dnnl::eltwise_backward::primitive_desc descriptor(backward, plan.attributes(), plan.engine(), hint);
  backward_.emplace_back(dnnl::eltwise_backward(descriptor),
                         Arguments{{DNNL_ARG_DST, result},
                                   {DNNL_ARG_DIFF_DST, gradient},
                                   {DNNL_ARG_DIFF_SRC, gradient},
                                   {DNNL_ARG_SCRATCHPAD, plan.scratchpad(descriptor.scratchpad_desc())}});
  plan.set_gradient(input(), gradient);
}

} // namespace dt::engine
