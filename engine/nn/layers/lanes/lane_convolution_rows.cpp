// LaneConvolution by minimal filtering along the rows. Its buffers, in vectors of image lanes:
//   points of pixels    [group][row of the padded image][6][channel][pair of results]
//   points of weights   [6][channel, row of the window][output], numbers
//   points of results   [row][6][output][pair]
// The input's gradient is made by the adjoints of these transforms, so it has the points of pixels too:
//   points of gradients [row of the input][6][channel][pair]
#include "engine/nn/layers/lanes/lane_convolution.hpp"
#include "engine/nn/layers/lanes/lane_layout.hpp"

#include <algorithm>

#include <omp.h>

namespace dt::nn {

// LeNet's second layer (6 to 16 channels) gains 1.4 times, its first one nothing: with few channels the transforms cost what they
// save.
bool LaneConvolution::is_filtered(const Plan& plan) const
{
  constexpr std::int64_t fewest_inputs = 4, fewest_outputs = 8;
  return plan.options().winograd && spec().kernel == 5 && spec().stride == 1 && padded_.channels >= fewest_inputs &&
         computed_.channels >= fewest_outputs;
}

void LaneConvolution::plan_filtering(Plan& plan)
{
  const auto in = padded_.channels, out = computed_.channels;
  for (std::int64_t channel = 0; channel < in; ++channel)
    for (std::int64_t row = 0; row < spec().kernel; ++row)
      row_terms_.add((row * row_points * in + channel) * pairs() * image_lanes, (channel * spec().kernel + row) * out);
  pixel_points_ = plan.allocate_floats(lane_groups(plan.options().batch) * pixel_points_size());
  weight_points_ = plan.allocate_floats(row_points * in * spec().kernel * out);
  row_results_ = plan.allocate_floats(plan.options().threads * most_rows() * result_points_size());
}

void LaneConvolution::transform_weights() const
{
  row_weights(floats_of(weights_), padded_.channels * spec().kernel, computed_.channels, floats_of(weight_points_));
}

// Rows of a group's padded images to points.
void LaneConvolution::transform_pixels(std::int64_t group, std::int64_t first, std::int64_t behind) const
{
  const auto in = padded_.channels, of_channel = pairs() * image_lanes;
  const float* images = floats_of(images_) + group * padded_.size() * image_lanes;
  float* points = floats_of(pixel_points_) + group * pixel_points_size();
  for (auto row = first; row < behind; ++row)
    for (std::int64_t channel = 0; channel < in; ++channel)
      row_pixels(set_, images + (channel * padded_.height + row) * padded_.width * image_lanes, padded_.width, pairs(),
                 points + (row * row_points * in + channel) * of_channel, in * of_channel);
}

// A point's rows follow each other, because they have most pixels in common.
void LaneConvolution::filtered_rows(std::int64_t group, std::int64_t first, std::int64_t rows, float* results,
                                    std::ptrdiff_t plane) const
{
  const auto in = padded_.channels, out = computed_.channels, of_output = pairs() * image_lanes;
  float* points = floats_of(row_results_) + omp_get_thread_num() * most_rows() * result_points_size();
  const float *weights = floats_of(weight_points_), *bias = has_bias() ? floats_of(bias_) : nullptr;
  const float* pixels = floats_of(pixel_points_) + group * pixel_points_size() + first * row_points * in * of_output;
  const ProductShape shape{.outputs = static_cast<int>(out),
                           .positions = static_cast<int>(pairs()),
                           .scalar_stride = 1,
                           .vector_stride = image_lanes,
                           .output_stride = of_output,
                           .position_stride = image_lanes};
  for (std::int64_t point = 0; point < row_points; ++point)
    for (std::int64_t row = 0; row < rows; ++row)
      lane_products(set_, row_terms_, shape, pixels + (row * row_points + point) * in * of_output,
                    weights + point * in * spec().kernel * out, nullptr, false,
                    points + row * result_points_size() + point * out * of_output);
  for (std::int64_t output = 0; output < out; ++output)
    for (std::int64_t row = 0; row < rows; ++row)
      row_results(set_, points + row * result_points_size() + output * of_output, out * of_output, computed_.width,
                  bias ? bias[output] : 0.0F, has_relu(), results + output * plane + row * computed_.width * image_lanes);
}

// One group's gradient of the results, to points of results. Where each row is in a window of the pooling, one row of windows
// after the other, so that the rows before the pooling stay in the first-level cache.
void LaneConvolution::filter_gradient(std::int64_t group, float* points) const
{
  const auto filter = [&](const float* gradient, std::int64_t plane, std::int64_t first, std::int64_t rows) {
    const auto row_size = computed_.width * image_lanes;
    for (std::int64_t output = 0; output < computed_.channels; ++output)
      for (std::int64_t row = 0; row < rows; ++row)
        row_result_gradients(set_, gradient + output * plane + row * row_size, computed_.width,
                             points + (first + row) * result_points_size() + output * pairs() * image_lanes,
                             computed_.channels * pairs() * image_lanes);
  };
  const auto plane = computed_.height * computed_.width * image_lanes;
  if (!pooling_ || !pooling_->cover())
    return filter(gradient_of(group, pooling_ ? scratch_of_thread() : nullptr), plane, 0, computed_.height);
  for (std::int64_t window = 0; window < output().shape.height; ++window) {
    const auto rows = gradient_rows(group, window, scratch_of_thread());
    filter(scratch_of_thread(), rows * computed_.width * image_lanes, window * pooling_->stride, rows);
  }
}

// As run_backward_weights: each thread has its share of the terms.
void LaneConvolution::run_filtered_weights(std::int64_t groups) const
{
  const auto in = padded_.channels, out = computed_.channels, of_output = pairs() * image_lanes, terms = in * spec().kernel;
  const CorrelationShape shape{.outputs = static_cast<int>(out),
                               .gradients = {static_cast<int>(computed_.height), static_cast<int>(pairs()), result_points_size()},
                               .plane_stride = of_output,
                               .image_row_stride = row_points * in * of_output,
                               .image_column_stride = image_lanes,
                               .output_stride = image_lanes,
                               .image_stride = out * image_lanes};
#pragma omp parallel
  {
    const auto thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const auto first = terms * thread / threads, count = terms * (thread + 1) / threads - first;
    const auto sums_of = [&](std::int64_t point) { return floats_of(sums_) + (point * terms + first) * out * image_lanes; };
    float* points = floats_of(gradient_points_) + thread * computed_.height * result_points_size();
    for (std::int64_t point = 0; point < row_points; ++point) std::fill_n(sums_of(point), count * out * image_lanes, 0.0F);
    if (thread == 0 && has_bias()) std::fill_n(floats_of(bias_gradient_), out, 0.0F);
    for (std::int64_t group = 0; group < groups; ++group) {
      if (thread == 0 && has_bias()) add_bias_gradient(group);
      filter_gradient(group, points);
      for (std::int64_t point = 0; point < row_points; ++point)
        lane_correlations(set_, shape, points + point * out * of_output,
                          floats_of(pixel_points_) + group * pixel_points_size() + point * in * of_output,
                          row_terms_.vectors.data() + first, static_cast<int>(count), sums_of(point));
    }
    for (std::int64_t point = 0; point < row_points; ++point)
      lane_totals(set_, sums_of(point), count * out, floats_of(weight_points_) + (point * terms + first) * out);
#pragma omp barrier
#pragma omp single
    row_weight_gradients(floats_of(weight_points_), terms, out, floats_of(weight_gradient_));
  }
}

// Row i of the padded input is in the results i - h for rows h of the window, where there are such results.
void LaneConvolution::plan_filtered_data(Plan& plan)
{
  const auto out = computed_.channels, kernel = spec().kernel, rows = input().shape.height;
  for (std::int64_t row = 0; row < rows; ++row) {
    Terms terms;
    for (std::int64_t h = 0; h < kernel; ++h) {
      const auto result = row + spec().padding - h;
      if (result < 0 || result >= computed_.height) continue;
      for (std::int64_t output = 0; output < out; ++output)
        terms.add(result * result_points_size() + output * pairs() * image_lanes, h * out + output);
    }
    row_input_terms_.push_back(std::move(terms));
  }
  pixel_gradient_points_ = plan.allocate_floats(plan.options().threads * rows * pixel_row_points_size());
}

// Threads share the groups; where there are fewer groups than threads, also the rows of a group.
void LaneConvolution::run_filtered_data(std::int64_t groups) const
{
  const auto& in = input().shape;
  const std::int64_t threads = omp_get_max_threads(), shares = (threads + groups - 1) / groups;
  transform_weights();
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t group = 0; group < groups; ++group)
    for (std::int64_t share = 0; share < shares; ++share) {
      const auto thread = omp_get_thread_num();
      float* result_points = floats_of(gradient_points_) + thread * computed_.height * result_points_size();
      filter_gradient(group, result_points);
      filtered_data_rows(result_points, in.height * share / shares, in.height * (share + 1) / shares,
                         floats_of(pixel_gradient_points_) + thread * in.height * pixel_row_points_size(),
                         floats_of(data_gradient_) + group * in.size() * image_lanes);
    }
}

// Rows of one group's gradient. A point's rows follow each other, because they need nearly the same results.
void LaneConvolution::filtered_data_rows(const float* result_points, std::int64_t first, std::int64_t behind, float* points,
                                         float* rows) const
{
  const auto in = input().shape;
  const auto out = computed_.channels, of_channel = pairs() * image_lanes;
  const float* weights = floats_of(weight_points_);
  const ProductShape shape{.outputs = static_cast<int>(in.channels),
                           .positions = static_cast<int>(pairs()),
                           .scalar_stride = spec().kernel * out,
                           .vector_stride = image_lanes,
                           .output_stride = of_channel,
                           .position_stride = image_lanes};
  for (std::int64_t point = 0; point < row_points; ++point)
    for (auto row = first; row < behind; ++row)
      lane_products(set_, row_input_terms_[static_cast<std::size_t>(row)], shape, result_points + point * out * of_channel,
                    weights + point * in.channels * spec().kernel * out, nullptr, false,
                    points + row * pixel_row_points_size() + point * in.channels * of_channel);
  for (auto row = first; row < behind; ++row)
    for (std::int64_t channel = 0; channel < in.channels; ++channel)
      row_pixel_gradients(set_, points + row * pixel_row_points_size() + channel * of_channel, in.channels * of_channel, pairs(),
                          spec().padding, in.width, rows + (channel * in.height + row) * in.width * image_lanes);
}

} // namespace dt::nn
