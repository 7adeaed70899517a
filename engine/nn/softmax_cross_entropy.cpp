#include "engine/nn/softmax_cross_entropy.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::engine {
namespace {

constexpr std::int32_t padding_label = -1;

void check_label(std::int32_t label, std::size_t sample, std::size_t classes)
{
  if (label >= 0 && static_cast<std::size_t>(label) < classes) return;
  throw Error(ErrorKind::internal, fmt::format("Sample {} of the batch has label {}, but the network has classes 0 to {}.",
                                               sample, label, classes - 1));
}

// log of the sum of exponentials; the largest is taken out so that none overflows.
double log_sum_exp(std::span<const float> logits)
{
  const float largest = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  return static_cast<double>(largest) + std::log(static_cast<double>(sum));
}

} // namespace

SoftmaxCrossEntropy::SoftmaxCrossEntropy(Plan& plan, Tensor logits) : classes_(static_cast<std::size_t>(logits.shape.channels))
{
  const auto batch = plan.data(logits).get_desc().dims()[0];
  const dnnl::memory::desc plain({batch, logits.shape.channels}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nc);
  logits_ = plan.in_layout(plan.data(logits), plain, forward_);
  if (!plan.training()) return;
  gradient_ = plan.allocate(plain);
  plan.set_gradient(logits, gradient_);
}

std::span<const float> SoftmaxCrossEntropy::logits_of(std::size_t sample) const
{
  return {static_cast<const float*>(logits_.get_data_handle()) + sample * classes_, classes_};
}

double SoftmaxCrossEntropy::mean_loss(const dnnl::stream& stream, std::span<const std::int32_t> labels)
{
  run(forward_, stream);
  auto* gradient = static_cast<float*>(gradient_.get_data_handle());
  const float scale = 1.0F / static_cast<float>(labels.size());
  double sum = 0;
  for (std::size_t sample = 0; sample < labels.size(); ++sample, gradient += classes_) {
    check_label(labels[sample], sample, classes_);
    const auto logits = logits_of(sample);
    const auto label = static_cast<std::size_t>(labels[sample]);
    const double total = log_sum_exp(logits);
    sum += total - static_cast<double>(logits[label]);
    const auto total_f = static_cast<float>(total);
    for (std::size_t c = 0; c < classes_; ++c) gradient[c] = scale * std::exp(logits[c] - total_f);
    gradient[label] -= scale;
  }
  return sum / static_cast<double>(labels.size());
}

Evaluation SoftmaxCrossEntropy::evaluate(const dnnl::stream& stream, std::span<const std::int32_t> labels)
{
  run(forward_, stream);
  Evaluation evaluation;
  for (std::size_t sample = 0; sample < labels.size(); ++sample) {
    if (labels[sample] == padding_label) continue;
    check_label(labels[sample], sample, classes_);
    const auto logits = logits_of(sample);
    const auto label = static_cast<std::size_t>(labels[sample]);
    const auto best = static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    evaluation.loss_sum += log_sum_exp(logits) - static_cast<double>(logits[label]);
    // A sample whose logits are not numbers is classified wrongly, whatever its label.
    evaluation.correct += best == label && std::isfinite(logits[label]) ? 1 : 0;
    ++evaluation.samples;
  }
  return evaluation;
}

} // namespace dt::engine
