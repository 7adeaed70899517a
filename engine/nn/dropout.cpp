#include "engine/nn/dropout.hpp"

namespace dt::engine {

DropoutDraws Dropout::draws(Plan& plan) const
{
  constexpr std::uint64_t ranks_apart = 0x9e3779b97f4a7c15ULL;
  return {&plan.state().pass, plan.options().dropout_seed * ranks_apart + place_, rate_};
}

void Dropout::plan_forward(Plan& plan)
{
  const auto source = plan.data(input());
  plan.set_data(output(), source);
  if (!plan.training()) return;
  const bool in_place = plan.used_once(input()) && plan.needs_gradient(input());
  const auto destination = in_place ? source : plan.allocate(source.get_desc());
  forward_.push_back(dropout_operation(label("forward"), source, destination, draws(plan)));
  plan.set_data(output(), destination);
}

// The draws go by the place in memory, so the gradient must lie as the data did.
void Dropout::plan_backward(Plan& plan)
{
  if (!plan.needs_gradient(input())) return;
  const auto layout = plan.data(output()).get_desc();
  const auto output_gradient = plan.in_layout(plan.gradient(output(), name(), backward_), layout, name(), backward_);
  const auto input_gradient = plan.writable_gradient({output_gradient}, layout);
  backward_.push_back(dropout_operation(label("backward"), output_gradient, input_gradient, draws(plan)));
  plan.add_gradient(input(), input_gradient);
}

} // namespace dt::engine
