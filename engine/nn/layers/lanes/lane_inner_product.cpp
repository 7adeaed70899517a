#include "engine/nn/layers/lanes/lane_inner_product.hpp"

#include "engine/nn/layers/lanes/lane_layout.hpp"

#include <algorithm>

namespace dt::nn {
namespace {

constexpr std::int64_t chunk = 48; // features that a thread computes at a time

} // namespace

// [outputs / 16][feature][16]
dnnl::memory::desc LaneInnerProduct::lane_weights() const
{
  dnnl::memory::desc layout(weight_dims(), dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  auto& data = layout.data;
  data.padded_dims[0] = blocks() * image_lanes;
  auto& blocking = data.format_desc.blocking;
  blocking.inner_nblks = 1;
  blocking.inner_blks[0] = image_lanes;
  blocking.inner_idxs[0] = 0;
  blocking.strides[0] = features() * image_lanes;
  blocking.strides[1] = image_lanes;
  return layout;
}

// ---- forward: lanes are images ----

void LaneInnerProduct::plan_forward(Plan& plan)
{
  declare(plan, lane_weights());
  source_ = in_lanes(plan, input(), 0, name(), forward_);
  const auto weights = plan.in_layout(weight(plan).weight, lane_weights(), name(), forward_);
  const auto start = bias(plan).weight;
  const auto result = plan.allocate(lane_layout(plan, output().shape));
  for (std::int64_t feature = 0; feature < features(); ++feature)
    forward_terms_.add(feature * image_lanes, feature * image_lanes);
  const auto groups = lane_groups(plan.options().batch);
  forward_.emplace_back(label("forward", batch_flops(plan)), std::vector{source_, weights, result}, [=, this] {
#pragma omp parallel for schedule(static)
    for (std::int64_t block = 0; block < blocks(); ++block) {
      const auto first = block * image_lanes;
      const ProductShape shape{.outputs = static_cast<int>(std::min(image_lanes, outputs() - first)),
                               .positions = static_cast<int>(groups),
                               .scalar_stride = 1,
                               .vector_stride = features() * image_lanes,
                               .output_stride = image_lanes,
                               .position_stride = outputs() * image_lanes};
      lane_products(set_, forward_terms_, shape, floats_of(source_), floats_of(weights) + first * features(),
                    floats_of(start) + first, has_relu(), floats_of(result) + first * image_lanes);
    }
  });
  plan.set_data(output(), result);
}

// ---- backward ----

void LaneInnerProduct::plan_backward(Plan& plan)
{
  const auto gradient =
      plan.in_layout(plan.gradient(output(), name(), backward_), lane_layout(plan, output().shape), name(), backward_);
  plan_backward_weights(plan, gradient);
  gradients_final_ = backward_.size();
  if (plan.needs_gradient(input())) plan_backward_data(plan, gradient);
}

// Here lanes are outputs and the terms are the batch's images: the gradient is transposed first.
void LaneInnerProduct::plan_backward_weights(Plan& plan, const dnnl::memory& gradient)
{
  const auto batch = plan.options().batch, groups = lane_groups(batch), row = blocks() * image_lanes;
  const auto plain = plan.allocate_floats(groups * image_lanes * row);
  const auto weight_gradient = plan.staging_for(weight(plan).gradient, lane_weights());
  const auto bias_gradient = bias(plan).gradient;
  for (std::int64_t image = 0; image < batch; ++image)
    weight_terms_.add(image * row, image / image_lanes * features() * image_lanes + image % image_lanes);
  backward_.emplace_back(
      label("backward weights", batch_flops(plan)), std::vector{source_, gradient, plain, weight_gradient}, [=, this] {
        for (std::int64_t group = 0; group < groups; ++group)
          transpose_from_lanes(set_, floats_of(gradient) + group * outputs() * image_lanes, outputs(), row,
                               floats_of(plain) + group * image_lanes * row);
#pragma omp parallel for schedule(static)
        for (std::int64_t first = 0; first < features(); first += chunk) {
          const ProductShape shape{.outputs = static_cast<int>(std::min(chunk, features() - first)),
                                   .positions = static_cast<int>(blocks()),
                                   .scalar_stride = image_lanes,
                                   .vector_stride = image_lanes,
                                   .output_stride = image_lanes,
                                   .position_stride = features() * image_lanes};
          lane_products(set_, weight_terms_, shape, floats_of(plain), floats_of(source_) + first * image_lanes, nullptr, false,
                        floats_of(weight_gradient) + first * image_lanes);
        }
        std::fill_n(floats_of(bias_gradient), outputs(), 0.0F);
        for (std::int64_t group = 0; group < groups; ++group)
          add_plane_sums(floats_of(gradient) + group * outputs() * image_lanes, outputs(), 1, floats_of(bias_gradient));
      });
  plan.deliver(weight_gradient, weight(plan).gradient, name(), backward_);
}

void LaneInnerProduct::plan_backward_data(Plan& plan, const dnnl::memory& gradient)
{
  const auto weights = plan.in_layout(weight(plan).weight, lane_weights(), name(), backward_);
  const auto input_gradient = plan.allocate(lane_layout(plan, input().shape));
  const auto groups = lane_groups(plan.options().batch);
  for (std::int64_t output = 0; output < outputs(); ++output)
    input_terms_.add(output * image_lanes, output / image_lanes * features() * image_lanes + output % image_lanes);
  backward_.emplace_back(label("backward data", batch_flops(plan)), std::vector{gradient, weights, input_gradient}, [=, this] {
#pragma omp parallel for schedule(static)
    for (std::int64_t first = 0; first < features(); first += chunk) {
      const ProductShape shape{.outputs = static_cast<int>(std::min(chunk, features() - first)),
                               .positions = static_cast<int>(groups),
                               .scalar_stride = image_lanes,
                               .vector_stride = outputs() * image_lanes,
                               .output_stride = image_lanes,
                               .position_stride = features() * image_lanes};
      lane_products(set_, input_terms_, shape, floats_of(gradient), floats_of(weights) + first * image_lanes, nullptr, false,
                    floats_of(input_gradient) + first * image_lanes);
    }
  });
  plan.add_gradient(input(), input_gradient);
}

} // namespace dt::nn
