#include "engine/nn/layers/relu.hpp"

#include "engine/nn/kernels/elementwise.hpp"

namespace dt::nn {

void Relu::plan_forward(Plan& plan)
{
  const auto source = plan.activations(input(), name(), forward_);
  plan.set_data(output(), source);
  if (fused_) return;
  const auto destination =
      plan.training() && plan.used_once(input()) && plan.needs_gradient(input()) ? source : plan.allocate(source.get_desc());
  forward_.push_back(relu_operation(label("forward"), source, destination));
  plan.set_data(output(), destination);
}

void Relu::plan_backward(Plan& plan)
{
  if (!plan.needs_gradient(input())) return;
  const auto& result = plan.data(output());
  const auto parts = plan.gradient_parts_in(output(), result.get_desc(), name(), backward_);
  const auto gradient = plan.writable_gradient(parts, result.get_desc());
  backward_.push_back(relu_gradient_operation(label("backward"), parts, result, gradient));
  plan.add_gradient(input(), gradient);
}

} // namespace dt::nn
