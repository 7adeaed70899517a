#include "engine/nn/layers/dropout.hpp"

#include "core/maths/random.hpp"

namespace dt::nn {

DropoutDraws Dropout::draws(Plan& plan) const
{
  return {&plan.state().pass, plan.options().dropout_seed * splitmix_increment + place_, rate_};
}

void Dropout::plan_forward(Plan& plan)
{
  const auto source = plan.activations(input(), name(), forward_);
  plan.set_data(output(), source);
  if (!plan.training()) return;
  const bool in_place = plan.used_once(input()) && plan.needs_gradient(input());
  const auto destination = in_place ? source : plan.allocate(source.get_desc());
  forward_.push_back(dropout_operation(label("forward"), source, destination, draws(plan)));
  plan.set_data(output(), destination);
}

// The random numbers depend on the place in memory, so the gradient must have the layout of the data.
void Dropout::plan_backward(Plan& plan)
{
  if (!plan.needs_gradient(input())) return;
  const auto layout = plan.data(output()).get_desc();
  const auto output_gradient = plan.in_layout(plan.gradient(output(), name(), backward_), layout, name(), backward_);
  const auto input_gradient = plan.writable_gradient({output_gradient}, layout);
  backward_.push_back(dropout_operation(label("backward"), output_gradient, input_gradient, draws(plan)));
  plan.add_gradient(input(), input_gradient);
}

} // namespace dt::nn
