#include "engine/nn/batch_norm.hpp"

#include "core/error.hpp"

#include <array>
#include <cmath>

#include <omp.h>

namespace dt::engine {
namespace {

constexpr float epsilon = 1e-5F; // as its paper's implementations and PyTorch
constexpr int most_lanes = 16;
constexpr std::size_t most_parts = 4;
using Sums = std::array<double, most_lanes>;

bool is_bf16(const dnnl::memory& memory) { return memory.get_desc().data_type() == dnnl::memory::data_type::bf16; }

template <class T>
T* pointer(const dnnl::memory& memory, std::int64_t offset)
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

BatchNorm::Channels BatchNorm::channels(Plan& plan) const { return {plan.allocate_floats(view_.groups * view_.lanes)}; }

// Where the layout before is no one for the kernels, x is brought into one.
void BatchNorm::plan_view(Plan& plan)
{
  x_ = plan.data(input());
  if (!channel_view(x_.get_desc()))
    x_ = plan.in_layout(x_, plan.layout(input().shape, dnnl::memory::format_tag::nChw16c), name(), forward_);
  view_ = channel_view(x_.get_desc()).value();
}

void BatchNorm::plan_forward(Plan& plan)
{
  declare(plan);
  plan_view(plan);
  synchronize_ = plan.options().synchronize;
  state_ = &plan.state();
  if (has_residual()) residual_ = plan.in_layout(plan.data(inputs()[1]), x_.get_desc(), name(), forward_);
  mean_ = channels(plan), inverse_ = channels(plan), a_ = channels(plan), b_ = channels(plan);
  y_ = plan.allocate(x_.get_desc());
  plan.set_data(output(), y_);
  std::vector<dnnl::memory> uses{x_, y_, mean_.memory, inverse_.memory, a_.memory, b_.memory};
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
  if (parts_.size() > most_parts) parts_ = {plan.in_layout(plan.gradient(output(), name(), backward_), x_.get_desc(), name(), backward_)};
  sum_ = channels(plan), product_ = channels(plan);
  if (has_residual()) {
    d_ = plan.writable_gradient(parts_, x_.get_desc());
    if (plan.needs_gradient(inputs()[1])) plan.add_gradient(inputs()[1], d_);
  }
  // The gradient of x may lie over a part that nobody else reads, unless that one holds d.
  dx_ = has_residual() ? plan.allocate(x_.get_desc()) : plan.writable_gradient(parts_, x_.get_desc());
  std::vector<dnnl::memory> uses{x_, dx_, mean_.memory, inverse_.memory, a_.memory, b_.memory, sum_.memory, product_.memory};
  uses.insert(uses.end(), parts_.begin(), parts_.end());
  if (has_residual()) uses.insert(uses.end(), {d_, y_});
  const bool half = is_bf16(x_);
  backward_.emplace_back(label("backward"), uses, [this, half] { half ? differentiate<Bf16>() : differentiate<float>(); });
  gradients_final_ = backward_.size();
  if (plan.needs_gradient(input())) plan.add_gradient(input(), dx_);
}

// ---- computing ----

void BatchNorm::for_groups(const std::function<void(std::int64_t)>& work) const
{
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t group = 0; group < view_.groups; ++group) work(group);
}

template <class T>
NormRow<T> BatchNorm::row(std::int64_t group, std::int64_t sample) const
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
  const auto at = group * view_.lanes;
  return {a_.at(at), b_.at(at), mean_.at(at), sum_.memory.get(true) ? sum_.at(at) : nullptr,
          product_.memory.get(true) ? product_.at(at) : nullptr, relu_};
}

// A group at a time where possible: what was read for the mean is still in the cache for y.
template <class T>
void BatchNorm::normalize()
{
  if (!synchronize_) {
    for_groups([&](std::int64_t group) {
      measure<T>(group);
      prepare_group(group);
      apply<T>(group);
    });
    return;
  }
  for_groups([&](std::int64_t group) { measure<T>(group); });
  average_over_ranks();
  for_groups([&](std::int64_t group) { prepare_group(group); apply<T>(group); });
}

// mean and variance (in inverse_) of this rank's batch. Sums are of x minus its first value, so that they cancel little.
template <class T>
void BatchNorm::measure(std::int64_t group)
{
  const int lanes = view_.lanes;
  float shift[most_lanes];
  for (int l = 0; l < lanes; ++l) {
    const T first = row<T>(group, 0).x[l];
    if constexpr (std::is_same_v<T, float>) {
      shift[l] = first;
    } else {
      shift[l] = std::bit_cast<float>(static_cast<std::uint32_t>(first.bits) << 16U);
    }
  }
  Sums sum{}, squares{};
  for (std::int64_t sample = 0; sample < view_.samples; ++sample)
    norm_sums(row<T>(group, sample), lanes, shift, sum.data(), squares.data());
  const double count = static_cast<double>(view_.samples * view_.places);
  for (int l = 0; l < lanes; ++l) {
    const auto i = static_cast<std::size_t>(l);
    const double mean = sum[i] / count;
    mean_.at(group * lanes)[l] = static_cast<float>(static_cast<double>(shift[l]) + mean);
    inverse_.at(group * lanes)[l] = static_cast<float>(std::fmax(0.0, squares[i] / count - mean * mean));
  }
}

// First the mean of the means; then the variance about it, of which each rank knows its part.
void BatchNorm::average_over_ranks()
{
  const auto count = static_cast<std::size_t>(view_.groups * view_.lanes);
  const std::span mean(mean_.at(0), count), variance(inverse_.at(0), count);
  const std::vector<float> own(mean.begin(), mean.end());
  synchronize_(mean);
  for (std::size_t c = 0; c < count; ++c) variance[c] += (own[c] - mean[c]) * (own[c] - mean[c]);
  synchronize_(variance);
}

// From mean and variance: the factors of y = a x + b, 1 / sqrt(var + epsilon), and what the running statistics are to learn.
void BatchNorm::prepare_group(std::int64_t group)
{
  const auto at = group * view_.lanes;
  for (std::int64_t c = at; c < at + view_.lanes; ++c) {
    *mean_gradient_.at(c) = state_->loss_scale * *mean_.at(c);
    *variance_gradient_.at(c) = state_->loss_scale * *inverse_.at(c);
    *inverse_.at(c) = 1 / std::sqrt(*inverse_.at(c) + epsilon);
    *a_.at(c) = *scale_.at(c) * *inverse_.at(c);
    *b_.at(c) = *shift_.at(c) - *a_.at(c) * *mean_.at(c);
  }
}

template <class T>
void BatchNorm::apply(std::int64_t group)
{
  for (std::int64_t sample = 0; sample < view_.samples; ++sample)
    norm_apply(row<T>(group, sample), view_.lanes, coefficients(group));
}

template <class T>
void BatchNorm::evaluate()
{
  for_groups([&](std::int64_t group) {
    const auto at = group * view_.lanes;
    for (std::int64_t c = at; c < at + view_.lanes; ++c) {
      *a_.at(c) = *scale_.at(c) / std::sqrt(*running_variance_.at(c) + epsilon);
      *b_.at(c) = *shift_.at(c) - *a_.at(c) * *running_mean_.at(c);
    }
    apply<T>(group);
  });
}

template <class T>
void BatchNorm::differentiate()
{
  if (!synchronize_) {
    for_groups([&](std::int64_t group) {
      sum_gradients<T>(group);
      finish_gradients(group);
      apply_gradient<T>(group);
    });
    return;
  }
  for_groups([&](std::int64_t group) { sum_gradients<T>(group); });
  average_gradients_over_ranks();
  for_groups([&](std::int64_t group) { apply_gradient<T>(group); });
}

// dL/dbeta = sum d, dL/dgamma = sum d (x - mean) / sqrt(var + epsilon)
template <class T>
void BatchNorm::sum_gradients(std::int64_t group)
{
  Sums sum{}, product{};
  for (std::int64_t sample = 0; sample < view_.samples; ++sample)
    norm_gradient_sums(row<T>(group, sample), view_.lanes, coefficients(group), sum.data(), product.data());
  for (int l = 0; l < view_.lanes; ++l) {
    const auto c = group * view_.lanes + l;
    *shift_gradient_.at(c) = static_cast<float>(sum[static_cast<std::size_t>(l)]);
    *scale_gradient_.at(c) = static_cast<float>(product[static_cast<std::size_t>(l)]) * *inverse_.at(c);
    *sum_.at(c) = *shift_gradient_.at(c);
    *product_.at(c) = *scale_gradient_.at(c);
  }
}

// The mean and the variance came from all ranks, so the gradients through them do. Those of gamma and beta stay each rank's own.
void BatchNorm::average_gradients_over_ranks()
{
  const auto count = static_cast<std::size_t>(view_.groups * view_.lanes);
  synchronize_(std::span(sum_.at(0), count));
  synchronize_(std::span(product_.at(0), count));
  for (std::int64_t group = 0; group < view_.groups; ++group) finish_gradients(group);
}

// dL/dx = a (d - E[d] - x^ E[d x^]), x^ = (x - mean) / sqrt(var + epsilon), as a d + sum + product (x - mean)
void BatchNorm::finish_gradients(std::int64_t group)
{
  const auto count = static_cast<float>(view_.samples * view_.places);
  const auto at = group * view_.lanes;
  for (std::int64_t c = at; c < at + view_.lanes; ++c) {
    *sum_.at(c) *= -*a_.at(c) / count;
    *product_.at(c) *= -*a_.at(c) * *inverse_.at(c) / count;
  }
}

template <class T>
void BatchNorm::apply_gradient(std::int64_t group)
{
  for (std::int64_t sample = 0; sample < view_.samples; ++sample)
    norm_gradient(row<T>(group, sample), view_.lanes, coefficients(group));
}

} // namespace dt::engine
