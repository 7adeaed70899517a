#include "engine/nn/relu.hpp"

namespace dt::engine {

namespace {

using Arguments = std::initializer_list<std::pair<int, dnnl::memory>>;

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

void Relu::plan_backward(Plan& plan)
{
  result_ = plan.data(output());
  gradient_ = plan.in_layout(plan.gradient(output()), result_.get_desc(), backward_);
  plan.set_gradient(input(), gradient_);
}

void Relu::backward(const dnnl::stream& stream, const GradientReady& ready)
{
  Layer::backward(stream, ready);
  const auto* result = static_cast<const float*>(result_.get_data_handle());
  auto* gradient = static_cast<float*>(gradient_.get_data_handle());
  const auto size = static_cast<std::int64_t>(result_.get_desc().get_size() / sizeof(float));
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < size; ++i) gradient[i] = result[i] > 0 ? gradient[i] : 0;
}

} // namespace dt::engine
