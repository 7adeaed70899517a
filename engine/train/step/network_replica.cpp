#include "engine/train/step/network_replica.hpp"

#include "core/record/run_record.hpp"
#include "engine/optim/passes.hpp"
#include "engine/train/step/modelled_pass.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::train {

namespace {

bool decays(nn::ParameterKind kind, const OptimizerSpec& spec)
{
  switch (kind) {
  case nn::ParameterKind::weight:
    return true;
  case nn::ParameterKind::bias:
    return spec.decay_biases;
  case nn::ParameterKind::scale:
  case nn::ParameterKind::shift:
    return spec.decay_norms;
  case nn::ParameterKind::statistic:
    return false;
  }
  return false;
}

Range range_of(const nn::Parameter& parameter)
{
  const auto begin = static_cast<std::size_t>(parameter.offset);
  return {begin, begin + static_cast<std::size_t>(parameter.size)};
}

} // namespace

std::vector<optim::Segment> segments_of(const nn::Network& network, const OptimizerSpec& spec)
{
  std::vector<optim::Segment> segments;
  for (const auto& parameter : network.parameters())
    segments.push_back({.range = range_of(parameter),
                        .decay = decays(parameter.kind, spec),
                        .own_rate = parameter.kind == nn::ParameterKind::weight,
                        .statistic = parameter.kind == nn::ParameterKind::statistic});
  return segments;
}

NetworkReplica::NetworkReplica(const Parts& parts) : parts_(parts), noise_(parts.noise_every, parts.accumulation)
{
  for (const auto& parameter : parts_.network.parameters()) {
    tensors_.push_back(range_of(parameter));
    if (parameter.kind == nn::ParameterKind::statistic) statistics_.push_back(range_of(parameter));
  }
  // The mean over micro-batches is free: each one computes gradients of its share of the loss.
  parts_.network.set_loss_scale(parts_.loss_scale / static_cast<double>(parts_.accumulation));
  if (parts_.accumulation > 1) sum_.resize(parts_.network.gradients().size());
}

sync::BatchLoss NetworkReplica::compute(sync::GradientListener* listener)
{
  const data::Batch& batch = read_batch();
  parts_.timer.enter(comm::Doing::works, "computes forward and backward");
  parts_.network.set_pass(static_cast<std::uint64_t>((step_.number - 1) * parts_.accumulation));
  double loss = 0;
  noise_.begin_step(*this);
  for (std::int64_t part = 0; part < parts_.accumulation; ++part) loss += compute_part(batch, part, listener);
  noise_.add_sum(gradients(), 0);
  noise_.end_step(noise_.own(), noise_.sum());
  return {loss / static_cast<double>(parts_.accumulation), parts_.network.options().batch * parts_.accumulation};
}

const data::Batch& NetworkReplica::read_batch()
{
  auto& timer = parts_.timer;
  const double begin_s = comm::monotonic_s();
  timer.enter(comm::Doing::works, "reads its batch");
  const data::Batch& batch = parts_.loader.next();
  const double read_s = comm::monotonic_s();
  timer.add(Phase::input, read_s - begin_s);
  timer.draw("input", begin_s, read_s);
  return batch;
}

// Computes one micro-batch and returns its mean loss. In the last one, a tensor's gradients are those of the whole batch before
// the listener is called.
double NetworkReplica::compute_part(const data::Batch& batch, std::int64_t part, sync::GradientListener* listener)
{
  auto& [network, loader, optimizer, timer, accumulation, loss_scale, modelled_rate, noise_every, shared] = parts_;
  const auto samples = static_cast<std::size_t>(network.options().batch), place = static_cast<std::size_t>(part) * samples;
  const auto floats = static_cast<std::size_t>(network.options().image.size());
  const auto images = std::span(batch.images).subspan(place * floats, samples * floats);
  const auto labels = std::span(batch.labels).subspan(place, samples);
  const bool is_last = part + 1 == accumulation;

  const double begin_s = comm::monotonic_s();
  const ModelledPass modelled(begin_s, modelled_rate > 0 ? static_cast<double>(samples) / modelled_rate : 0);
  nn::ComputeTimes times;
  double sums_s = 0, slept_s = 0;
  nn::GradientReady ready;
  if (is_last && (listener != nullptr || accumulation > 1))
    ready = [&](std::size_t parameter) {
      slept_s += modelled.sleep_until_ready(parameter, tensors_.size());
      if (accumulation > 1) sums_s += take_sum(parameter);
      if (listener != nullptr) listener->gradients_ready(tensors_[parameter]);
    };
  const double loss = network.forward_backward(images, labels, &times, ready);
  if (!is_last) {
    const double computed_s = comm::monotonic_s();
    noise_.add_own(gradients(), 0);
    if (part == 0)
      std::ranges::copy(network.gradients(), sum_.begin());
    else
      add_to_sum();
    sums_s += comm::monotonic_s() - computed_s;
  }
  slept_s += modelled.sleep_until_end();
  const double forward_s = modelled.forward_s(times.forward_s);
  timer.add(Phase::forward, forward_s);
  timer.add(Phase::backward, times.backward_s + sums_s + slept_s - (forward_s - times.forward_s));
  timer.draw("forward", begin_s, begin_s + forward_s);
  timer.draw("backward", begin_s + forward_s, comm::monotonic_s());
  if (!std::isfinite(loss)) diverge(loss, images, labels);
  return loss;
}

void NetworkReplica::add_to_sum() { optim::add(sum_.data(), gradients().data(), sum_.size()); }

// Adds the earlier micro-batches' sum to a tensor's gradients. Returns the seconds that this took.
double NetworkReplica::take_sum(std::size_t parameter)
{
  const double begin_s = comm::monotonic_s();
  const auto& tensor = tensors_[parameter];
  noise_.add_own(values_at(gradients(), tensor), tensor.begin);
  optim::add(gradients().data() + tensor.begin, sum_.data() + tensor.begin, tensor.size());
  return comm::monotonic_s() - begin_s;
}

void NetworkReplica::diverge(double loss, std::span<const float> images, std::span<const std::int32_t> labels)
{
  throw Diverged(ErrorKind::run,
                 fmt::format("{} at a learning rate of {}; {}.", std::isnan(loss) ? loss_is_nan : loss_is_infinite,
                             step_.learning_rate, origin_of_divergence(images, labels)));
}

std::string NetworkReplica::origin_of_divergence(std::span<const float> images, std::span<const std::int32_t> labels)
{
  // Another pass would make sums over ranks and wait for ranks that may be elsewhere.
  if (parts_.network.options().synchronize) return "with model.batch_norm: synchronized, the layer is not searched for";
  const auto layer = parts_.network.first_non_finite(images, labels);
  if (layer.empty()) return "the outputs of all layers are finite";
  return "the first values that are not finite are " + (layer == "images" ? "in the images" : "in the output of layer " + layer);
}

void NetworkReplica::update(Range range, float gradient_factor)
{
  step_rule(range, weights(), gradients(), step_.learning_rate, gradient_factor);
}

void NetworkReplica::apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate)
{
  step_rule(range, weights, gradients, learning_rate, 1);
}

void NetworkReplica::step_rule(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate,
                               float gradient_factor)
{
  require_finite(values_at(gradients, range));
  parts_.optimizer.step(weights, gradients, learning_rate, {range, unscaled(gradient_factor)});
}

void NetworkReplica::update_slice(std::size_t begin, std::span<const float> sums, float factor)
{
  require_finite(sums);
  parts_.optimizer.elementwise()->step_slice(weights(), begin, sums, step_.learning_rate, unscaled(factor));
}

void NetworkReplica::require_finite(std::span<const float> gradients) const
{
  if (parts_.loss_scale == 1 || optim::all_finite(gradients.data(), gradients.size())) return;
  throw Error(ErrorKind::run, fmt::format("the loss is finite, but the gradients of {} times the loss are not: lower "
                                          "train.loss_scale.",
                                          parts_.loss_scale));
}

// The factor for gradients of the scaled loss.
float NetworkReplica::unscaled(float gradient_factor) const
{
  return static_cast<float>(static_cast<double>(gradient_factor) / parts_.loss_scale);
}

} // namespace dt::train
