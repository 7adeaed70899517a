#include "engine/nn/layers/batch_norm.hpp"

#include "core/error.hpp"
#include "engine/nn/kernels/processor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <omp.h>

namespace dt::nn {
namespace {

constexpr auto epsilon = static_cast<float>(model::BatchNormSpec::epsilon);
constexpr std::size_t most_channels = 16, most_parts = 4;

bool is_bf16(const dnnl::memory& memory) { return memory.get_desc().data_type() == dnnl::memory::data_type::bf16; }

template<class T> T* pointer(const dnnl::memory& memory, std::int64_t offset)
{
  return memory.get(true) == nullptr ? nullptr : static_cast<T*>(memory.get_data_handle()) + offset;
}

} // namespace

void BatchNorm::fuse_relu(Tensor result)
{
  relu_ = true;
  set_output(result);
}

void BatchNorm::fuse_add(Tensor residual, Tensor result)
{
  add_input(residual);
  set_output(result);
}

// ---- planning ----

void BatchNorm::declare(Plan& plan)
{
  const auto channels = output().shape.channels;
  const dnnl::memory::desc layout({channels}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  const auto parameter = [&](const char* what, ParameterKind kind) {
    parameters_.push_back(plan.parameter({name() + what, {channels}, kind}, layout));
    return parameters_.back();
  };
  const auto scale = parameter(".weight", ParameterKind::scale), shift = parameter(".bias", ParameterKind::shift);
  const auto mean = parameter(".running_mean", ParameterKind::statistic);
  const auto variance = parameter(".running_var", ParameterKind::statistic);
  scale_ = {plan.stored(scale).weight}, scale_gradient_ = {plan.stored(scale).gradient};
  shift_ = {plan.stored(shift).weight}, shift_gradient_ = {plan.stored(shift).gradient};
  running_mean_ = {plan.stored(mean).weight}, mean_gradient_ = {plan.stored(mean).gradient};
  running_variance_ = {plan.stored(variance).weight}, variance_gradient_ = {plan.stored(variance).gradient};
}

BatchNorm::Channels BatchNorm::channels(Plan& plan) const { return {plan.allocate_floats(view_.groups * view_.block)}; }

std::span<float> BatchNorm::all(const Channels& channels) const
{
  return {channels.at(0), static_cast<std::size_t>(view_.groups * view_.block)};
}

// Reorders x if the kernels cannot read its layout.
void BatchNorm::plan_view(Plan& plan)
{
  x_ = plan.activations(input(), name(), forward_);
  if (!channel_view(x_.get_desc())) x_ = plan.in_layout(x_, plan.blocked_layout(input().shape), name(), forward_);
  view_ = channel_view(x_.get_desc()).value();
}

void BatchNorm::plan_forward(Plan& plan)
{
  declare(plan);
  plan_view(plan);
  synchronize_ = plan.options().synchronize;
  state_ = &plan.state();
  if (has_residual()) residual_ = plan.in_layout(plan.data(inputs()[1]), x_.get_desc(), name(), forward_);
  mean_ = channels(plan), inverse_ = channels(plan), a_ = channels(plan), b_ = channels(plan), sum_ = channels(plan);
  row_sums_.resize(static_cast<std::size_t>(view_.groups * view_.samples));
  y_ = plan.allocate(x_.get_desc());
  plan.set_data(output(), y_);
  std::vector<dnnl::memory> uses{x_, y_, mean_.memory, inverse_.memory, a_.memory, b_.memory, sum_.memory};
  if (has_residual()) uses.push_back(residual_);
  const bool half = is_bf16(x_);
  if (plan.training())
    forward_.emplace_back(label("forward"), uses, [this, half] { half ? normalize<Bf16>() : normalize<float>(); });
  else
    forward_.emplace_back(label("forward"), uses, [this, half] { half ? evaluate<Bf16>() : evaluate<float>(); });
}

void BatchNorm::plan_backward(Plan& plan)
{
  parts_ = plan.gradient_parts_in(output(), x_.get_desc(), name(), backward_);
  if (parts_.size() > most_parts)
    parts_ = {plan.in_layout(plan.gradient(output(), name(), backward_), x_.get_desc(), name(), backward_)};
  product_ = channels(plan);
  if (has_residual()) {
    d_ = plan.writable_gradient(parts_, x_.get_desc());
    if (plan.needs_gradient(inputs()[1])) plan.add_gradient(inputs()[1], d_);
  }
  // The gradient of x may overwrite a part that no other layer reads, unless that part holds d.
  auto free_parts = parts_;
  std::erase_if(free_parts, [this](const dnnl::memory& part) { return has_residual() && part.get() == d_.get(); });
  dx_ = plan.writable_gradient(free_parts, x_.get_desc());
  std::vector<dnnl::memory> uses{x_, dx_, mean_.memory, inverse_.memory, a_.memory, b_.memory, sum_.memory, product_.memory};
  uses.insert(uses.end(), parts_.begin(), parts_.end());
  if (has_residual()) uses.insert(uses.end(), {d_, y_});
  const bool half = is_bf16(x_);
  backward_.emplace_back(label("backward"), uses, [this, half] { half ? differentiate<Bf16>() : differentiate<float>(); });
  gradients_final_ = backward_.size();
  if (plan.needs_gradient(input())) plan.add_gradient(input(), dx_);
}

// ---- computing ----

namespace {

// Each thread takes some samples, as the threads of most convolutions do. So a thread reads what it wrote itself.
template<class First, class Middle, class Second>
void two_passes_by_samples(const ChannelView& view, const First& first, const Middle& middle, const Second& second)
{
#pragma omp parallel
  {
    const auto thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const auto begin = view.samples * thread / threads, end = view.samples * (thread + 1) / threads;
    for (auto sample = begin; sample < end; ++sample)
      for (std::int64_t group = 0; group < view.groups; ++group) first(group, sample);
#pragma omp barrier
#pragma omp for schedule(static)
    for (std::int64_t group = 0; group < view.groups; ++group) middle(group);
    for (auto sample = end; sample-- > begin;)
      for (std::int64_t group = view.groups; group-- > 0;) second(group, sample);
  }
}

// Each thread takes whole groups. The second pass finds the rows of its group in the cache, because the first one has just read
// them.
template<class First, class Middle, class Second>
void two_passes_by_groups(const ChannelView& view, const First& first, const Middle& middle, const Second& second)
{
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t group = 0; group < view.groups; ++group) {
    for (std::int64_t sample = 0; sample < view.samples; ++sample) first(group, sample);
    middle(group);
    for (std::int64_t sample = view.samples; sample-- > 0;) second(group, sample);
  }
}

// Calls first(group, sample) for all rows, then middle(group) for all groups, then second(group, sample) for all rows. The second
// pass begins with the rows that the first one read last. `batch_bytes`: size of the batch that both passes read.
template<class First, class Middle, class Second>
void two_passes(const ChannelView& view, std::size_t batch_bytes, const First& first, const Middle& middle, const Second& second)
{
  const std::int64_t threads = omp_get_max_threads();
  const bool fits_cache = static_cast<std::int64_t>(batch_bytes) <= cache_sizes().shared;
  const bool by_samples = view.groups < threads || (fits_cache && view.samples % threads == 0);
  by_samples ? two_passes_by_samples(view, first, middle, second) : two_passes_by_groups(view, first, middle, second);
}

template<class Work> void one_pass(const ChannelView& view, const Work& work)
{
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t sample = 0; sample < view.samples; ++sample)
    for (std::int64_t group = 0; group < view.groups; ++group) work(group, sample);
}

template<class Work> void for_groups(const ChannelView& view, const Work& work)
{
  for (std::int64_t group = 0; group < view.groups; ++group) work(group);
}

float as_float(float value) { return value; }
float as_float(Bf16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16U); }

} // namespace

template<class T> NormRow<T> BatchNorm::row(std::int64_t group, std::int64_t sample) const
{
  const auto offset = sample * view_.sample_stride + group * view_.group_stride;
  NormRow<T> row{.places = view_.places, .stride = view_.place_stride, .x = pointer<T>(x_, offset)};
  row.residual = pointer<T>(residual_, offset);
  row.y = pointer<T>(y_, offset);
  row.result = has_residual() ? row.y : nullptr;
  for (const auto& part : parts_) row.parts[row.count++] = pointer<T>(part, offset);
  row.d = pointer<T>(d_, offset);
  row.dx = pointer<T>(dx_, offset);
  return row;
}

NormCoefficients BatchNorm::coefficients(std::int64_t group) const
{
  const auto at = group * view_.block;
  return {a_.at(at),
          b_.at(at),
          mean_.at(at),
          sum_.memory.get(true) ? sum_.at(at) : nullptr,
          product_.memory.get(true) ? product_.at(at) : nullptr,
          relu_};
}

template<class T> void BatchNorm::normalize()
{
  const auto measure = [this](std::int64_t group, std::int64_t sample) { measure_row<T>(group, sample); };
  const auto apply = [this](std::int64_t group, std::int64_t sample) {
    norm_apply(row<T>(group, sample), view_.block, coefficients(group));
  };
  if (!synchronize_) {
    two_passes(
        view_, x_.get_desc().get_size(), measure, [this](std::int64_t group) { take_moments<T>(group), prepare(group); }, apply);
    return;
  }
  one_pass(view_, measure);
  for_groups(view_, [this](std::int64_t group) { take_moments<T>(group); });
  average_moments_over_ranks();
  for_groups(view_, [this](std::int64_t group) { prepare(group); });
  one_pass(view_, apply);
}

// A value to subtract before summing a channel, so that sums cancel little: the channel's first number.
template<class T> std::array<float, 16> BatchNorm::shift_of(std::int64_t group) const
{
  std::array<float, 16> shift{};
  const auto* first = row<T>(group, 0).x;
  for (std::size_t l = 0; l < static_cast<std::size_t>(view_.block); ++l) shift[l] = as_float(first[l]);
  return shift;
}

template<class T> void BatchNorm::measure_row(std::int64_t group, std::int64_t sample)
{
  auto& sums = row_sums(group, sample);
  sums = {};
  norm_sums(row<T>(group, sample), view_.block, shift_of<T>(group).data(), sums.first.data(), sums.second.data());
}

// Adds the rows' sums in the order of the samples: equal bits for every number of threads.
BatchNorm::RowSums BatchNorm::group_sums(std::int64_t group)
{
  RowSums total{};
  for (std::int64_t sample = 0; sample < view_.samples; ++sample) {
    const auto& sums = row_sums(group, sample);
    for (std::size_t l = 0; l < most_channels; ++l) total.first[l] += sums.first[l], total.second[l] += sums.second[l];
  }
  return total;
}

// Computes mean and variance of this rank's batch. The variance is stored in inverse_, which later holds 1 / sqrt(var + epsilon).
template<class T> void BatchNorm::take_moments(std::int64_t group)
{
  const auto shift = shift_of<T>(group);
  const auto sums = group_sums(group);
  const double count = static_cast<double>(view_.samples * view_.places);
  for (std::size_t l = 0; l < static_cast<std::size_t>(view_.block); ++l) {
    const auto c = group * view_.block + static_cast<std::int64_t>(l);
    const double mean = sums.first[l] / count;
    *mean_.at(c) = static_cast<float>(static_cast<double>(shift[l]) + mean);
    *inverse_.at(c) = static_cast<float>(std::fmax(0.0, sums.second[l] / count - mean * mean));
  }
}

// First averages the means; then the variances about the common mean, to which each rank adds the shift of its own mean.
void BatchNorm::average_moments_over_ranks()
{
  const auto mean = all(mean_), variance = all(inverse_), own = all(sum_);
  std::copy(mean.begin(), mean.end(), own.begin());
  synchronize_(mean);
  for (std::size_t c = 0; c < mean.size(); ++c) variance[c] += (own[c] - mean[c]) * (own[c] - mean[c]);
  synchronize_(variance);
}

// From mean and variance: the factors of y = a x + b, 1 / sqrt(var + epsilon), and the values for the running statistics.
void BatchNorm::prepare(std::int64_t group)
{
  const auto at = group * view_.block;
  for (std::int64_t c = at; c < at + view_.block; ++c) {
    *mean_gradient_.at(c) = state_->loss_scale * *mean_.at(c);
    *variance_gradient_.at(c) = state_->loss_scale * *inverse_.at(c);
    *inverse_.at(c) = 1 / std::sqrt(*inverse_.at(c) + epsilon);
    *a_.at(c) = *scale_.at(c) * *inverse_.at(c);
    *b_.at(c) = *shift_.at(c) - *a_.at(c) * *mean_.at(c);
  }
}

template<class T> void BatchNorm::evaluate()
{
  for (std::int64_t c = 0; c < view_.groups * view_.block; ++c) {
    *a_.at(c) = *scale_.at(c) / std::sqrt(*running_variance_.at(c) + epsilon);
    *b_.at(c) = *shift_.at(c) - *a_.at(c) * *running_mean_.at(c);
  }
  one_pass(view_, [this](std::int64_t group, std::int64_t sample) {
    norm_apply(row<T>(group, sample), view_.block, coefficients(group));
  });
}

template<class T> void BatchNorm::differentiate()
{
  const auto sum = [this](std::int64_t group, std::int64_t sample) {
    auto& sums = row_sums(group, sample);
    sums = {};
    norm_gradient_sums(row<T>(group, sample), view_.block, coefficients(group), sums.first.data(), sums.second.data());
  };
  const auto apply = [this](std::int64_t group, std::int64_t sample) {
    norm_gradient(row<T>(group, sample), view_.block, coefficients(group));
  };
  if (!synchronize_) {
    two_passes(
        view_, x_.get_desc().get_size(), sum, [this](std::int64_t group) { take_gradients(group), prepare_gradient(group); },
        apply);
    return;
  }
  one_pass(view_, sum);
  for_groups(view_, [this](std::int64_t group) { take_gradients(group); });
  // Mean and variance depend on all ranks, so the gradients through them do too. The gradients of gamma and beta stay per rank.
  synchronize_(all(sum_));
  synchronize_(all(product_));
  for_groups(view_, [this](std::int64_t group) { prepare_gradient(group); });
  one_pass(view_, apply);
}

// dL/dbeta = sum d, dL/dgamma = sum d (x - mean) / sqrt(var + epsilon)
void BatchNorm::take_gradients(std::int64_t group)
{
  const auto sums = group_sums(group);
  for (std::size_t l = 0; l < static_cast<std::size_t>(view_.block); ++l) {
    const auto c = group * view_.block + static_cast<std::int64_t>(l);
    *sum_.at(c) = *shift_gradient_.at(c) = static_cast<float>(sums.first[l]);
    *product_.at(c) = *scale_gradient_.at(c) = static_cast<float>(sums.second[l]) * *inverse_.at(c);
  }
}

// dL/dx = a (d - E[d] - x^ E[d x^]) with x^ = (x - mean) / sqrt(var + epsilon), written as a d + sum + product (x - mean).
void BatchNorm::prepare_gradient(std::int64_t group)
{
  const auto count = static_cast<float>(view_.samples * view_.places);
  const auto at = group * view_.block;
  for (std::int64_t c = at; c < at + view_.block; ++c) {
    *sum_.at(c) *= -*a_.at(c) / count;
    *product_.at(c) *= -*a_.at(c) * *inverse_.at(c) / count;
  }
}

} // namespace dt::nn
