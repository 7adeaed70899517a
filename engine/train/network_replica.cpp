#include "engine/train/network_replica.hpp"

#include "core/error.hpp"

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
}

BatchLoss NetworkReplica::compute(GradientListener* listener)
{
  auto& timer = parts_.timer;
  const double begin_s = monotonic_s();
  timer.enter("reads its batch");
  const Batch& batch = parts_.loader.next();
  const double read_s = monotonic_s();
  timer.add(Phase::input, read_s - begin_s);
  timer.draw("input", begin_s, read_s);

  timer.enter("computes forward and backward");
  ComputeTimes times;
  GradientReady ready;
  if (listener != nullptr) ready = [&](std::size_t parameter) { listener->gradients_ready(tensors_[parameter]); };
  const double loss = parts_.network.forward_backward(batch.images, batch.labels, &times, ready);
  timer.add(Phase::forward, times.forward_s);
  timer.add(Phase::backward, times.backward_s);
  timer.draw("forward", read_s, read_s + times.forward_s);
  timer.draw("backward", read_s + times.forward_s, monotonic_s());
  if (!std::isfinite(loss))
    throw Error(ErrorKind::run, fmt::format("the loss is {} at a learning rate of {}: the training diverged. Lower "
                                            "optimizer.learning_rate, or lengthen optimizer.warmup_epochs.",
                                            loss, step_.learning_rate));
  return {loss, parts_.network.options().batch};
}

void NetworkReplica::update(const Stretch& stretch, float gradient_factor)
{
  parts_.optimizer.step(weights(), gradients(), step_.learning_rate,
                        {static_cast<std::int64_t>(stretch.offset), static_cast<std::int64_t>(stretch.end()), gradient_factor});
}

void NetworkReplica::apply(const Stretch& stretch, std::span<float> weights, std::span<const float> gradients, double learning_rate)
{
  parts_.optimizer.step(weights, gradients, learning_rate,
                        {static_cast<std::int64_t>(stretch.offset), static_cast<std::int64_t>(stretch.end())});
}

} // namespace dt::engine
