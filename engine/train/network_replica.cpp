#include "engine/train/network_replica.hpp"

#include "engine/optim/passes.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::engine {

namespace {

bool decays(ParameterKind kind, const OptimizerSpec& spec)
{
  switch (kind) {
  case ParameterKind::weight: return true;
  case ParameterKind::bias: return spec.decay_biases;
  case ParameterKind::scale:
  case ParameterKind::shift: return spec.decay_norms;
  case ParameterKind::statistic: return false;
  }
  return false;
}

} // namespace

std::vector<Segment> segments_of(const Network& network, const OptimizerSpec& spec)
{
  std::vector<Segment> segments;
  for (const auto& [name, offset, size, kind, dims] : network.parameters())
    segments.push_back({.offset = offset,
                        .size = size,
                        .decay = decays(kind, spec),
                        .own_rate = kind == ParameterKind::weight,
                        .statistic = kind == ParameterKind::statistic});
  return segments;
}

NetworkReplica::NetworkReplica(const Parts& parts) : parts_(parts)
{
  for (const auto& parameter : parts_.network.parameters())
    tensors_.push_back({static_cast<std::size_t>(parameter.offset), static_cast<std::size_t>(parameter.size)});
  // The mean over micro-batches costs nothing: each computes gradients of its share of the loss.
  parts_.network.set_loss_scale(parts_.loss_scale / static_cast<double>(parts_.accumulation));
  if (parts_.accumulation > 1) sum_.resize(parts_.network.gradients().size());
}

BatchLoss NetworkReplica::compute(GradientListener* listener)
{
  const Batch& batch = read_batch();
  parts_.timer.enter("computes forward and backward");
  parts_.network.set_pass(static_cast<std::uint64_t>((step_.number - 1) * parts_.accumulation));
  double loss = 0;
  for (std::int64_t part = 0; part < parts_.accumulation; ++part) loss += compute_part(batch, part, listener);
  return {loss / static_cast<double>(parts_.accumulation), parts_.network.options().batch * parts_.accumulation};
}

const Batch& NetworkReplica::read_batch()
{
  auto& timer = parts_.timer;
  const double begin_s = monotonic_s();
  timer.enter("reads its batch");
  const Batch& batch = parts_.loader.next();
  const double read_s = monotonic_s();
  timer.add(Phase::input, read_s - begin_s);
  timer.draw("input", begin_s, read_s);
  return batch;
}

// The mean loss of one micro-batch. After the last one the gradients are those of the batch, and so they are when the listener
// hears of them.
double NetworkReplica::compute_part(const Batch& batch, std::int64_t part, GradientListener* listener)
{
  auto& [network, loader, optimizer, timer, accumulation, loss_scale] = parts_;
  const auto samples = static_cast<std::size_t>(network.options().batch), place = static_cast<std::size_t>(part) * samples;
  const auto floats = static_cast<std::size_t>(network.options().image.size());
  const auto images = std::span(batch.images).subspan(place * floats, samples * floats);
  const auto labels = std::span(batch.labels).subspan(place, samples);
  const bool is_last = part + 1 == accumulation;

  const double begin_s = monotonic_s();
  ComputeTimes times;
  double sums_s = 0;
  GradientReady ready;
  if (is_last && (listener != nullptr || accumulation > 1))
    ready = [&](std::size_t parameter) {
      if (accumulation > 1) sums_s += take_sum(parameter);
      if (listener != nullptr) listener->gradients_ready(tensors_[parameter]);
    };
  const double loss = network.forward_backward(images, labels, &times, ready);
  if (!is_last) {
    const double computed_s = monotonic_s();
    part == 0 ? void(std::ranges::copy(network.gradients(), sum_.begin())) : add_to_sum();
    sums_s += monotonic_s() - computed_s;
  }
  timer.add(Phase::forward, times.forward_s);
  timer.add(Phase::backward, times.backward_s + sums_s);
  timer.draw("forward", begin_s, begin_s + times.forward_s);
  timer.draw("backward", begin_s + times.forward_s, monotonic_s());
  if (!std::isfinite(loss)) diverge(loss, images, labels);
  return loss;
}

void NetworkReplica::add_to_sum() { add(sum_.data(), gradients().data(), static_cast<std::int64_t>(sum_.size())); }

// Adds what the earlier micro-batches have left to a tensor's gradients, and tells how long that took.
double NetworkReplica::take_sum(std::size_t parameter)
{
  const double begin_s = monotonic_s();
  const auto& tensor = tensors_[parameter];
  add(gradients().data() + tensor.offset, sum_.data() + tensor.offset, static_cast<std::int64_t>(tensor.size));
  return monotonic_s() - begin_s;
}

void NetworkReplica::diverge(double loss, std::span<const float> images, std::span<const std::int32_t> labels)
{
  throw Diverged(ErrorKind::run, fmt::format("the loss is {} at a learning rate of {}; {}.", loss, step_.learning_rate,
                                             origin_of_divergence(images, labels)));
}

std::string NetworkReplica::origin_of_divergence(std::span<const float> images, std::span<const std::int32_t> labels)
{
  // Another pass would wait for ranks that may be somewhere else.
  if (parts_.network.options().synchronize) return "the layer is not looked for with model.batch_norm: synchronized";
  const auto layer = parts_.network.first_non_finite(images, labels);
  if (layer.empty()) return "every layer's numbers are finite";
  return "the first numbers that are not finite " + (layer == "images" ? "are the images'" : "leave layer " + layer);
}

void NetworkReplica::update(const Stretch& stretch, float gradient_factor)
{
  step_rule(stretch, weights(), gradients(), step_.learning_rate, gradient_factor);
}

void NetworkReplica::apply(const Stretch& stretch, std::span<float> weights, std::span<const float> gradients, double learning_rate)
{
  step_rule(stretch, weights, gradients, learning_rate, 1);
}

void NetworkReplica::step_rule(const Stretch& stretch, std::span<float> weights, std::span<const float> gradients,
                               double learning_rate, float gradient_factor)
{
  const auto size = static_cast<std::int64_t>(stretch.size);
  if (parts_.loss_scale != 1 && !all_finite(gradients.data() + stretch.offset, size))
    throw Error(ErrorKind::run, fmt::format("the gradients of {} times the loss are not finite, though the loss is: lower "
                                            "train.loss_scale.",
                                            parts_.loss_scale));
  parts_.optimizer.step(weights, gradients, learning_rate,
                        {static_cast<std::int64_t>(stretch.offset), static_cast<std::int64_t>(stretch.end()),
                         static_cast<float>(static_cast<double>(gradient_factor) / parts_.loss_scale)});
}

} // namespace dt::engine
