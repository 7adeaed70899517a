#include "engine/nn/layers/lanes/lane_convolution.hpp"

#include "engine/nn/layers/lanes/lane_layout.hpp"

#include <algorithm>

#include <omp.h>

namespace dt::nn {

LaneConvolution::LaneConvolution(const model::Layer& description)
    : Convolution(description),
      computed_(output().shape), padded_{input().shape.channels, input().shape.height + 2 * spec().padding,
                                         input().shape.width + 2 * spec().padding}
{
  planned_ = {Algorithm::image_lanes, Algorithm::image_lanes, Algorithm::image_lanes};
}

bool LaneConvolution::can_join(const Pooling& pooling)
{
  const auto& spec = pooling.spec();
  return spec.rule == PoolingRule::max && spec.stride >= spec.kernel && spec.padding == 0 &&
         spec.kernel * spec.kernel <= no_winner;
}

void LaneConvolution::join(const Pooling& pooling, Tensor output)
{
  pooling_ = PoolingWindows{.input = {1, computed_.height, computed_.width},
                            .output = {1, pooling.output().shape.height, pooling.output().shape.width},
                            .kernel = pooling.spec().kernel,
                            .stride = pooling.spec().stride,
                            .rectified = has_relu()};
  set_output(output);
}

// Inputs, rows, columns, outputs: the scalars of one term lie side by side.
dnnl::memory::desc LaneConvolution::lane_weights() const
{
  return {weight_dims(), dnnl::memory::data_type::f32, dnnl::memory::format_tag::ihwo};
}

void LaneConvolution::describe_terms()
{
  const auto kernel = spec().kernel;
  for (std::int64_t i = 0; i < padded_.channels; ++i)
    for (std::int64_t h = 0; h < kernel; ++h)
      for (std::int64_t w = 0; w < kernel; ++w)
        terms_.add(((i * padded_.height + h) * padded_.width + w) * image_lanes,
                   ((i * kernel + h) * kernel + w) * spec().channels);
}

dnnl::memory LaneConvolution::scratch(Plan& plan, std::int64_t vectors) const
{
  return plan.allocate_floats(plan.options().threads * vectors * image_lanes);
}

float* LaneConvolution::scratch_of_thread() const
{
  return floats_of(scratch_) + omp_get_thread_num() * computed_.size() * image_lanes;
}

// ---- forward ----

void LaneConvolution::plan_forward(Plan& plan)
{
  describe_terms();
  declare(plan, lane_weights());
  images_ = in_lanes(plan, input(), spec().padding, name(), forward_);
  weights_ = plan.in_layout(weight(plan).weight, lane_weights(), name(), forward_);
  if (has_bias()) bias_ = bias(plan).weight;
  results_ = plan.allocate(lane_layout(plan, output().shape));
  const auto groups = lane_groups(plan.options().batch), size = output().shape.size() * image_lanes;
  std::vector<dnnl::memory> uses{images_, weights_, results_};
  filtered_ = is_filtered(plan);
  if (filtered_) {
    plan_filtering(plan);
    uses.insert(uses.end(), {pixel_points_, weight_points_, row_results_});
  }
  if (pooling_) {
    winners_ = plan.allocate_floats(groups * size / static_cast<std::int64_t>(sizeof(float)));
    scratch_ = scratch(plan, computed_.size());
    uses.insert(uses.end(), {winners_, scratch_});
  }
  forward_.emplace_back(label("forward", batch_flops(plan)), std::move(uses), [=, this] { run_forward(groups); });
  plan.set_data(output(), results_);
}

void LaneConvolution::run_forward(std::int64_t groups) const
{
  const auto rows = output().shape.height;
  const auto compute_row = [&](std::int64_t group, std::int64_t row) {
    float* results = floats_of(results_) + group * output().shape.size() * image_lanes;
    pooling_ ? forward_pooled(group, row, scratch_of_thread(), results)
             : forward_rows(group, row, 1, results + row * computed_.width * image_lanes);
  };
  if (filtered_) transform_weights();
  // Threads that have whole groups compute a group's rows while its points are in the second-level cache.
  if (filtered_ && groups % omp_get_max_threads() == 0) {
#pragma omp parallel for schedule(static)
    for (std::int64_t group = 0; group < groups; ++group) {
      transform_pixels(group, 0, padded_.height);
      for (std::int64_t row = 0; row < rows; ++row) compute_row(group, row);
    }
    return;
  }
  if (filtered_) {
#pragma omp parallel for collapse(2) schedule(static)
    for (std::int64_t group = 0; group < groups; ++group)
      for (std::int64_t row = 0; row < padded_.height; ++row) transform_pixels(group, row, row + 1);
  }
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t group = 0; group < groups; ++group)
    for (std::int64_t row = 0; row < rows; ++row) compute_row(group, row);
}

// Rows of all channels. Without pooling they go to their place in a whole image, otherwise to one that has only these rows.
void LaneConvolution::forward_rows(std::int64_t group, std::int64_t row, std::int64_t rows, float* results) const
{
  const auto plane = (pooling_ ? rows : computed_.height) * computed_.width * image_lanes;
  const ProductShape shape{.outputs = static_cast<int>(computed_.channels),
                           .positions = static_cast<int>(computed_.width),
                           .scalar_stride = 1,
                           .vector_stride = spec().stride * image_lanes,
                           .output_stride = plane,
                           .position_stride = image_lanes};
  const float* image = floats_of(images_) + group * padded_.size() * image_lanes;
  if (filtered_) return filtered_rows(group, row, rows, results, plane);
  for (std::int64_t i = 0; i < rows; ++i)
    lane_products(set_, terms_, shape, image + (row + i) * spec().stride * padded_.width * image_lanes, floats_of(weights_),
                  floats_of(bias_), has_relu(), results + i * computed_.width * image_lanes);
}

// One row of windows: its rows of the convolution stay in the first-level cache until they are pooled.
void LaneConvolution::forward_pooled(std::int64_t group, std::int64_t pooled_row, float* rows, float* results) const
{
  auto windows = *pooling_;
  const auto first = pooled_row * windows.stride, count = std::min(windows.kernel, computed_.height - first);
  const auto& out = output().shape;
  forward_rows(group, first, count, rows);
  windows.input.height = count;
  windows.output.height = 1;
  auto* winners = static_cast<std::uint8_t*>(winners_.get_data_handle()) + group * out.size() * image_lanes;
  for (std::int64_t channel = 0; channel < out.channels; ++channel) {
    const auto to = (channel * out.height + pooled_row) * out.width * image_lanes;
    pool_lanes(set_, windows, rows + channel * count * computed_.width * image_lanes, results + to, winners + to);
  }
}

// ---- backward ----

void LaneConvolution::plan_backward(Plan& plan)
{
  gradient_ = plan.in_layout(plan.gradient(output(), name(), backward_), lane_layout(plan, output().shape), name(), backward_);
  const auto outputs = spec().channels,
             sums = filtered_ ? row_points * padded_.channels * spec().kernel * outputs : weight_count();
  sums_ = plan.allocate_floats(sums * image_lanes);
  weight_gradient_ = plan.staging_for(weight(plan).gradient, lane_weights());
  if (has_bias()) bias_gradient_ = bias(plan).gradient;
  const auto groups = lane_groups(plan.options().batch);
  std::vector<dnnl::memory> uses{images_, gradient_, sums_, weight_gradient_};
  if (pooling_) uses.insert(uses.end(), {winners_, scratch_});
  if (filtered_) {
    gradient_points_ = plan.allocate_floats(plan.options().threads * computed_.height * result_points_size());
    uses.insert(uses.end(), {pixel_points_, weight_points_, gradient_points_});
  }
  backward_.emplace_back(label("backward weights", batch_flops(plan)), uses,
                         [=, this] { filtered_ ? run_filtered_weights(groups) : run_backward_weights(groups); });
  plan.deliver(weight_gradient_, weight(plan).gradient, name(), backward_);
  gradients_final_ = backward_.size();
  if (!plan.needs_gradient(input())) return;
  data_gradient_ = plan.allocate(lane_layout(plan, input().shape));
  uses = {gradient_, weights_, data_gradient_};
  if (pooling_) uses.insert(uses.end(), {winners_, scratch_});
  if (filtered_) {
    plan_filtered_data(plan);
    uses.insert(uses.end(), {weight_points_, gradient_points_, pixel_gradient_points_});
  } else {
    describe_lines();
  }
  backward_.emplace_back(label("backward data", batch_flops(plan)), uses,
                         [=, this] { filtered_ ? run_filtered_data(groups) : run_backward_data(groups); });
  plan.add_gradient(input(), data_gradient_);
}

// The gradient of one group before the pooling; in `space` if there is a pooling.
const float* LaneConvolution::gradient_of(std::int64_t group, float* space) const
{
  const auto& out = output().shape;
  const float* gradient = floats_of(gradient_) + group * out.size() * image_lanes;
  if (!pooling_) return gradient;
  const auto* winners = static_cast<const std::uint8_t*>(winners_.get_data_handle()) + group * out.size() * image_lanes;
  for (std::int64_t channel = 0; channel < out.channels; ++channel) {
    const auto from = channel * out.height * out.width * image_lanes;
    unpool_lanes(set_, *pooling_, gradient + from, winners + from,
                 space + channel * computed_.height * computed_.width * image_lanes);
  }
  return space;
}

// The gradient of a row of windows before the pooling, of all channels: at most `kernel` rows, in `rows`. Returns their number.
std::int64_t LaneConvolution::gradient_rows(std::int64_t group, std::int64_t pooled_row, float* rows) const
{
  auto windows = *pooling_;
  const auto& out = output().shape;
  windows.input.height = std::min(windows.kernel, computed_.height - pooled_row * windows.stride);
  windows.output.height = 1;
  const auto* winners = static_cast<const std::uint8_t*>(winners_.get_data_handle());
  const float* gradient = floats_of(gradient_);
  for (std::int64_t channel = 0; channel < out.channels; ++channel) {
    const auto from = (group * out.size() + (channel * out.height + pooled_row) * out.width) * image_lanes;
    unpool_lanes(set_, windows, gradient + from, winners + from,
                 rows + channel * windows.input.height * computed_.width * image_lanes);
  }
  return windows.input.height;
}

void LaneConvolution::add_bias_gradient(std::int64_t group) const
{
  const auto& out = output().shape;
  const auto plane = out.height * out.width, first = group * out.size() * image_lanes;
  const float* gradient = floats_of(gradient_) + first;
  if (!pooling_) return add_plane_sums(gradient, out.channels, plane, floats_of(bias_gradient_));
  const auto* winners = static_cast<const std::uint8_t*>(winners_.get_data_handle()) + first;
  for (std::int64_t channel = 0; channel < out.channels; ++channel)
    floats_of(bias_gradient_)[channel] +=
        sum_of_winners(set_, gradient + channel * plane * image_lanes, winners + channel * plane * image_lanes, plane);
}

// Some rows at a time, which stay in the first-level cache: of a row of windows, or as many as have about sixty pixels.
void LaneConvolution::correlate(std::int64_t group, std::int64_t first_term, std::int64_t terms, float* sums) const
{
  const auto outputs = spec().channels, row = computed_.width * image_lanes;
  const auto step = pooling_ ? pooling_->stride : std::max<std::int64_t>(64 / computed_.width, 1);
  const float* images = floats_of(images_) + group * padded_.size() * image_lanes;
  for (std::int64_t first = 0; first < computed_.height; first += step) {
    auto rows = std::min(step, computed_.height - first);
    const float* gradient = floats_of(gradient_) + group * output().shape.size() * image_lanes + first * row;
    if (pooling_) {
      if (first / step >= output().shape.height) break; // behind the last window
      rows = gradient_rows(group, first / step, scratch_of_thread());
      gradient = scratch_of_thread();
    }
    const CorrelationShape shape{.outputs = static_cast<int>(outputs),
                                 .gradients = {static_cast<int>(rows), static_cast<int>(computed_.width), row},
                                 .plane_stride = (pooling_ ? rows : computed_.height) * row,
                                 .image_row_stride = spec().stride * padded_.width * image_lanes,
                                 .image_column_stride = spec().stride * image_lanes,
                                 .output_stride = image_lanes,
                                 .image_stride = outputs * image_lanes};
    lane_correlations(set_, shape, gradient, images + first * spec().stride * padded_.width * image_lanes,
                      terms_.vectors.data() + first_term, static_cast<int>(terms), sums);
  }
}

// Each thread has its share of the terms, so the sums do not depend on the number of threads.
void LaneConvolution::run_backward_weights(std::int64_t groups) const
{
  const auto outputs = spec().channels, terms = weight_count() / outputs;
#pragma omp parallel
  {
    const auto thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const auto first = terms * thread / threads, count = terms * (thread + 1) / threads - first;
    float* sums = floats_of(sums_) + first * outputs * image_lanes;
    std::fill_n(sums, count * outputs * image_lanes, 0.0F);
    if (thread == 0 && has_bias()) std::fill_n(floats_of(bias_gradient_), outputs, 0.0F);
    for (std::int64_t group = 0; group < groups; ++group) {
      correlate(group, first, count, sums);
      if (thread == 0 && has_bias()) add_bias_gradient(group);
    }
    lane_totals(set_, sums, count * outputs, floats_of(weight_gradient_) + first * outputs);
  }
}

namespace {

// Rows or columns of the input, a stride apart, on which the same rows or columns of the window depend: those from `first` on, a
// stride apart too. `output` is that of the first of both.
struct Stretch {
  std::int64_t begin, count;
  std::int64_t first, behind;
  std::int64_t output;
};

// The first row of the window that reads row i, and the one behind the last: output o reads row o * stride + k - padding with row
// k.
std::pair<std::int64_t, std::int64_t> readers(std::int64_t i, std::int64_t out, const ConvolutionSpec& spec)
{
  const auto place = i + spec.padding;
  const auto last_output = std::min(place / spec.stride, out - 1);
  return {place - last_output * spec.stride, std::min(spec.kernel, place + 1)};
}

std::vector<Stretch> stretches(std::int64_t in, std::int64_t out, const ConvolutionSpec& spec)
{
  std::vector<Stretch> found;
  for (std::int64_t phase = 0; phase < std::min(spec.stride, in); ++phase) {
    found.push_back({.begin = phase, .count = 0, .first = -1, .behind = -1, .output = 0});
    for (auto i = phase; i < in; i += spec.stride) {
      const auto [first, behind] = readers(i, out, spec);
      if (found.back().first != first || found.back().behind != behind)
        found.push_back({i, 0, first, behind, (i + spec.padding - first) / spec.stride});
      ++found.back().count;
    }
  }
  std::erase_if(found, [](const Stretch& stretch) { return stretch.count == 0; });
  return found;
}

} // namespace

void LaneConvolution::describe_lines()
{
  const auto &in = input().shape, &out = computed_;
  const auto stride = spec().stride;
  const auto across = stretches(in.width, out.width, spec());
  for (const auto& rows : stretches(in.height, out.height, spec()))
    for (const auto& columns : across) {
      Terms terms;
      for (std::int64_t o = 0; o < out.channels; ++o)
        for (auto h = rows.first; h < rows.behind; h += stride)
          for (auto w = columns.first; w < columns.behind; w += stride)
            terms.add(((o * out.height + rows.output - (h - rows.first) / stride) * out.width + columns.output -
                       (w - columns.first) / stride) *
                          image_lanes,
                      (h * spec().kernel + w) * out.channels + o);
      const bool along_rows = columns.count >= rows.count;
      const auto lines = along_rows ? rows.count : columns.count;
      const std::int64_t from_row = out.width * image_lanes, from_column = image_lanes;
      const std::int64_t to_row = stride * in.width * image_lanes, to_column = stride * image_lanes;
      for (std::int64_t line = 0; line < lines; ++line)
        lines_.push_back({.terms = input_terms_.size(),
                          .from = line * (along_rows ? from_row : from_column),
                          .to = (rows.begin * in.width + columns.begin) * image_lanes + line * (along_rows ? to_row : to_column),
                          .pixels = static_cast<int>(along_rows ? columns.count : rows.count),
                          .from_stride = along_rows ? from_column : from_row,
                          .to_stride = along_rows ? to_column : to_row});
      input_terms_.push_back(std::move(terms));
    }
}

// Threads share the groups; where there are fewer groups than threads, also the lines of a group.
void LaneConvolution::run_backward_data(std::int64_t groups) const
{
  const auto& in = input().shape;
  const std::int64_t threads = omp_get_max_threads(), shares = (threads + groups - 1) / groups;
  const auto lines = static_cast<std::int64_t>(lines_.size());
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t group = 0; group < groups; ++group)
    for (std::int64_t share = 0; share < shares; ++share) {
      const float* gradient = gradient_of(group, pooling_ ? scratch_of_thread() : nullptr);
      float* results = floats_of(data_gradient_) + group * in.size() * image_lanes;
      for (auto i = share; i < lines; i += shares) {
        const auto& line = lines_[static_cast<std::size_t>(i)];
        const ProductShape shape{.outputs = static_cast<int>(in.channels),
                                 .positions = line.pixels,
                                 .scalar_stride = spec().kernel * spec().kernel * spec().channels,
                                 .vector_stride = line.from_stride,
                                 .output_stride = in.height * in.width * image_lanes,
                                 .position_stride = line.to_stride};
        lane_products(set_, input_terms_[line.terms], shape, gradient + line.from, floats_of(weights_), nullptr, false,
                      results + line.to);
      }
    }
}

} // namespace dt::nn
