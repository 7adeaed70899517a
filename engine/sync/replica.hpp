// Replica: a rank's copy of the model as strategies see it: packed numbers and a call that computes. No layer, no oneDNN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dt::engine {

// Loss of one batch on one rank.
struct BatchLoss {
  double mean = 0; // over the batch's samples
  std::int64_t samples = 0;
};

// A stretch of the packed buffers, in floats.
struct Stretch {
  std::size_t offset = 0, size = 0;
  std::size_t end() const { return offset + size; }
};

// Told during compute() which gradients are final: tensor by tensor, the last layer's first.
class GradientListener {
public:
  virtual ~GradientListener() = default;
  virtual void gradients_ready(const Stretch& tensor) = 0;
};

class Replica {
public:
  virtual ~Replica() = default;
  // All parameters in one contiguous, 64-byte aligned buffer; padding between tensors is zero and stays zero.
  virtual std::span<float> weights() = 0;
  // Gradients of the mean loss over this rank's batch, laid out as the weights. Valid after compute().
  virtual std::span<float> gradients() = 0;
  // Where each tensor lies, in the order of the layers; together with the padding behind each they cover the buffers.
  virtual std::span<const Stretch> tensors() = 0;
  // Forward and backward over this rank's next batch. The listener, if any, hears of every tensor once.
  virtual BatchLoss compute(GradientListener* listener) = 0;
  BatchLoss compute() { return compute(nullptr); }
  // W <- opt(W, factor x gradients) with the step's learning rate, on a stretch of whole tensors. In one step every tensor must
  // be in one such stretch.
  virtual void update(const Stretch& stretch, float gradient_factor) = 0;
  // Whether that one stretch must be all there is: gradients are clipped by the length of all of them.
  virtual bool updates_whole() const { return false; }
  // W <- opt(W, gradients), everywhere.
  void update() { update({0, weights().size()}, 1); }
  // One stretch of whole tensors, with another's weights, gradients and learning rate: what a parameter server does for a worker.
  // Both buffers are laid out as the replica's. Several threads may be in it at once on the same buffers, if the rule keeps nothing
  // from step to step; what they lose to each other is theirs to judge.
  virtual void apply(const Stretch& stretch, std::span<float> weights, std::span<const float> gradients, double learning_rate) = 0;
  // Number of the step in progress, from 1. A resumed run goes on counting.
  virtual std::int64_t step() const = 0;
  // Of the step in progress.
  virtual double learning_rate() const = 0;
  // Epochs done before the step in progress.
  virtual double epoch() const = 0;
};

} // namespace dt::engine
