#include "engine/nn/layers/add.hpp"

#include "engine/nn/kernels/elementwise.hpp"

namespace dt::nn {

void Add::plan_forward(Plan& plan)
{
  const auto a = plan.activations(inputs()[0], name(), forward_);
  const auto b = plan.in_layout(plan.data(inputs()[1]), a.get_desc(), name(), forward_);
  const auto sum = plan.allocate(a.get_desc());
  forward_.push_back(sum_operation(label("forward"), {a, b}, sum));
  plan.set_data(output(), sum);
}

void Add::plan_backward(Plan& plan)
{
  const auto gradient = plan.gradient(output(), name(), backward_);
  for (const auto input : inputs())
    if (plan.needs_gradient(input)) plan.add_gradient(input, gradient);
}

} // namespace dt::nn
