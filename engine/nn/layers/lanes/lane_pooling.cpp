#include "engine/nn/layers/lanes/lane_pooling.hpp"

#include "engine/nn/layers/lanes/lane_layout.hpp"

namespace dt::nn {

PoolingWindows LanePooling::windows() const
{
  return {.input = input().shape,
          .output = output().shape,
          .kernel = spec().kernel,
          .stride = spec().stride,
          .padding = spec().padding,
          .mean = spec().rule == PoolingRule::average};
}

void LanePooling::plan_forward(Plan& plan)
{
  const auto source = in_lanes(plan, input(), 0, name(), forward_);
  const auto result = plan.allocate(lane_layout(plan, output().shape));
  const auto groups = lane_groups(plan.options().batch), size = output().shape.size() * image_lanes;
  winners_ = plan.allocate_floats(groups * size / static_cast<std::int64_t>(sizeof(float)));
  forward_.emplace_back(label("forward"), std::vector{source, result, winners_}, [=, this, windows = windows()] {
#pragma omp parallel for schedule(static)
    for (std::int64_t group = 0; group < groups; ++group)
      pool_lanes(set_, windows, floats_of(source) + group * windows.input.size() * image_lanes, floats_of(result) + group * size,
                 static_cast<std::uint8_t*>(winners_.get_data_handle()) + group * size);
  });
  plan.set_data(output(), result);
}

void LanePooling::plan_backward(Plan& plan)
{
  if (!plan.needs_gradient(input())) return;
  const auto gradient =
      plan.in_layout(plan.gradient(output(), name(), backward_), lane_layout(plan, output().shape), name(), backward_);
  const auto input_gradient = plan.allocate(lane_layout(plan, input().shape));
  const auto groups = lane_groups(plan.options().batch), size = output().shape.size() * image_lanes;
  backward_.emplace_back(label("backward"), std::vector{gradient, winners_, input_gradient}, [=, this, windows = windows()] {
#pragma omp parallel for schedule(static)
    for (std::int64_t group = 0; group < groups; ++group)
      unpool_lanes(set_, windows, floats_of(gradient) + group * size,
                   static_cast<const std::uint8_t*>(winners_.get_data_handle()) + group * size,
                   floats_of(input_gradient) + group * windows.input.size() * image_lanes);
  });
  plan.add_gradient(input(), input_gradient);
}

} // namespace dt::nn
