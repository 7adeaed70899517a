#include "engine/nn/layers/lanes/lane_layout.hpp"

#include <algorithm>

namespace dt::nn {

dnnl::memory::desc lane_layout(const Plan& plan, const Shape& shape)
{
  return plan.layout(shape, dnnl::memory::format_tag::Abcd16a);
}

dnnl::memory in_lanes(Plan& plan, Tensor tensor, std::int64_t border, const std::string& layer,
                      std::vector<Operation>& operations)
{
  const auto shape = tensor.shape;
  const bool plain = plan.data(tensor).get_desc() == plan.image_layout(shape);
  const auto from = plain ? plan.data(tensor) : plan.in_layout(plan.data(tensor), lane_layout(plan, shape), layer, operations);
  if (!plain && border == 0) return from;
  const Shape outer{shape.channels, shape.height + 2 * border, shape.width + 2 * border};
  const auto to = plan.allocate(lane_layout(plan, outer));
  const auto batch = plan.options().batch;
  operations.emplace_back(OperationLabel{.layer = layer, .what = "to lanes", .reorder = true}, std::vector{from, to}, [=] {
#pragma omp parallel for schedule(static)
    for (std::int64_t group = 0; group < lane_groups(batch); ++group) {
      const float* images = floats_of(from) + group * image_lanes * shape.size();
      float* padded = floats_of(to) + group * image_lanes * outer.size();
      if (plain)
        pad_plain_images(best_instruction_set(), images, std::min(image_lanes, batch - group * image_lanes), shape, border,
                         padded);
      else
        pad_lane_images(images, shape, border, padded);
    }
  });
  return to;
}

void add_plane_sums(const float* gradients, std::int64_t channels, std::int64_t plane, float* sums)
{
  for (std::int64_t channel = 0; channel < channels; ++channel)
    sums[channel] += lane_sum(best_instruction_set(), gradients + channel * plane * image_lanes, plane);
}

} // namespace dt::nn
