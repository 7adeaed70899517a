#include "engine/nn/layers/softmax_cross_entropy.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::nn {
namespace {

constexpr std::int32_t padding_label = -1;

// Log of the sum of exponentials. Subtracts the maximum first, so that no exponential overflows.
double log_sum_exp(std::span<const float> logits)
{
  const float largest = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  return static_cast<double>(largest) + std::log(static_cast<double>(sum));
}

double mean_of(std::span<const float> values)
{
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  return sum / static_cast<double>(values.size());
}

} // namespace

SoftmaxCrossEntropy::SoftmaxCrossEntropy(Plan& plan, Tensor logits, double weight)
    : classes_(static_cast<std::size_t>(logits.shape.channels)), weight_(weight), smoothing_(plan.options().label_smoothing),
      state_(&plan.state()), losses_(static_cast<std::size_t>(plan.options().batch))
{
  const auto plain = plan.image_layout(logits.shape);
  logits_ = plan.in_layout(plan.data(logits), plain, "loss", forward_);
  if (!plan.training()) return;
  gradient_ = plan.allocate(plain);
  loss_.emplace_back(OperationLabel{.layer = "loss", .what = "loss"}, std::vector{logits_, gradient_}, [this] { take_loss(); });
  plan.add_gradient(logits, gradient_);
}

std::span<const float> SoftmaxCrossEntropy::logits_of(std::size_t sample) const
{
  return {static_cast<const float*>(logits_.get_data_handle()) + sample * classes_, classes_};
}

void SoftmaxCrossEntropy::set_labels(std::span<const std::int32_t> labels, bool may_be_padded)
{
  for (std::size_t sample = 0; sample < labels.size(); ++sample) {
    const auto label = labels[sample];
    if (label >= 0 && static_cast<std::size_t>(label) < classes_) continue;
    if (label == padding_label && may_be_padded) continue;
    throw Error(ErrorKind::internal, fmt::format("Sample {} of the batch has label {}, but the network has classes 0 to {}.",
                                                 sample, label, classes_ - 1));
  }
  labels_ = labels;
}

void SoftmaxCrossEntropy::take_loss()
{
  auto* gradients = static_cast<float*>(gradient_.get_data_handle());
  const auto samples = static_cast<std::int64_t>(labels_.size());
#pragma omp parallel for schedule(static) if (labels_.size() * classes_ > 4096)
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    const auto s = static_cast<std::size_t>(sample);
    losses_[s] = take_loss_of(s, gradients + s * classes_);
  }
  double sum = 0;
  for (const double loss : losses_) sum += loss;
  weighted_loss_ = weight_ * sum / static_cast<double>(labels_.size());
}

// dL/dlogit = (p - q) / N, times weight and loss scale. Returns the sample's loss.
double SoftmaxCrossEntropy::take_loss_of(std::size_t sample, float* gradient)
{
  const auto logits = logits_of(sample);
  const auto label = static_cast<std::size_t>(labels_[sample]);
  const float scale = static_cast<float>(weight_) * state_->loss_scale / static_cast<float>(labels_.size());
  const double total = log_sum_exp(logits);
  const auto total_f = static_cast<float>(total);
  const auto spread = static_cast<float>(smoothing_ / static_cast<double>(classes_));
  for (std::size_t c = 0; c < classes_; ++c) gradient[c] = scale * (std::exp(logits[c] - total_f) - spread);
  gradient[label] -= scale * static_cast<float>(1 - smoothing_);
  const double hard = total - static_cast<double>(logits[label]);
  return smoothing_ == 0 ? hard : (1 - smoothing_) * hard + smoothing_ * (total - mean_of(logits));
}

Evaluation SoftmaxCrossEntropy::evaluate() const
{
  Evaluation evaluation;
  for (std::size_t sample = 0; sample < labels_.size(); ++sample) {
    if (labels_[sample] == padding_label) continue;
    const auto logits = logits_of(sample);
    const auto label = static_cast<std::size_t>(labels_[sample]);
    const auto best = static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    evaluation.loss_sum += log_sum_exp(logits) - static_cast<double>(logits[label]);
    // A sample with a NaN or infinite logit at its label counts as wrong.
    evaluation.correct += best == label && std::isfinite(logits[label]) ? 1 : 0;
    ++evaluation.samples;
  }
  return evaluation;
}

} // namespace dt::nn
