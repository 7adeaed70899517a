#include "engine/train/network_replica.hpp"

#include "core/error.hpp"

#include <cmath>

#include <fmt/format.h>

namespace dt::engine {

std::vector<Segment> segments_of(const Network& network)
{
  std::vector<Segment> segments;
  for (const auto& parameter : network.parameters()) segments.push_back({parameter.offset, parameter.size, !parameter.is_bias});
  return segments;
}

BatchLoss NetworkReplica::compute()
{
  const double begin = monotonic_s();
  const Batch& batch = parts_.loader.next();
  parts_.timer.add(Phase::input, monotonic_s() - begin);

  ComputeTimes times;
  const double loss = parts_.network.forward_backward(batch.images, batch.labels, &times);
  parts_.timer.add(Phase::forward, times.forward_s);
  parts_.timer.add(Phase::backward, times.backward_s);
  if (!std::isfinite(loss))
    throw Error(ErrorKind::run, fmt::format("the loss is {} at a learning rate of {}: the training diverged. Lower "
                                            "optimizer.learning_rate, or lengthen optimizer.warmup_epochs.",
                                            loss, learning_rate_));
  return {loss, parts_.network.options().batch};
}

void NetworkReplica::update() { parts_.optimizer.step(weights(), gradients(), learning_rate_); }

} // namespace dt::engine
