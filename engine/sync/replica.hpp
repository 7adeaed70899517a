// Replica: a rank's copy of the model as strategies see it: packed buffers and a call that computes gradients. It hides layers
// and oneDNN.
#pragma once

#include "core/range.hpp"
#include "engine/comm/allreduce/shared_vectors.hpp"

#include <cstdint>
#include <span>

namespace dt::sync {

// Loss of one batch on one rank.
struct BatchLoss {
  double mean = 0; // over the batch's samples
  std::int64_t samples = 0;
};

// Notified during compute() when gradients are final: tensor by tensor, the last layer's first.
class GradientListener {
 public:
  virtual ~GradientListener() = default;
  virtual void gradients_ready(Range tensor) = 0;
};

// Ranges are in floats from the start of the packed buffers.
class Replica {
 public:
  virtual ~Replica() = default;
  // All parameters in one contiguous, 64-byte aligned buffer. Padding between tensors is zero and must stay zero.
  virtual std::span<float> weights() = 0;
  // Gradients of the mean loss over this rank's batch, with the layout of the weights. Valid after compute().
  virtual std::span<float> gradients() = 0;
  // The range of each tensor, in the order of the layers. The tensors and the padding behind each cover the buffers.
  virtual std::span<const Range> tensors() = 0;
  // Forward and backward pass over this rank's next batch. The listener, if not null, is called once for every tensor.
  virtual BatchLoss compute(GradientListener* listener) = 0;
  BatchLoss compute() { return compute(nullptr); }
  // W <- opt(W, gradient_factor x gradients) with the step's learning rate, on a range of whole tensors. The ranges of one
  // step must cover every tensor exactly once.
  virtual void update(Range range, float gradient_factor) = 0;
  // Whether update() must be called with one range that covers everything, because gradients are clipped by their total norm.
  virtual bool updates_whole() const { return false; }
  // W <- opt(W, gradients) on the whole buffer.
  void update() { update({0, weights().size()}, 1); }
  // weights <- opt(weights, gradients) on one range of whole tensors, with buffers and learning rate of the caller: a parameter
  // server's update for a worker. Both buffers have the layout of the replica's. Several threads may call it concurrently on the
  // same buffers if the rule keeps no state between steps; the caller accepts that concurrent updates may overwrite one another.
  virtual void apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate) = 0;

  // ---- one copy of the weights for all ranks of a node ----

  // The memory in which this replica's gradients are the rank's own vector, and its weights the first common vector; null:
  // weights and gradients are this rank's alone. If not null, steps are made with update_slice(), not with update().
  virtual comm::SharedVectors* node_memory() { return nullptr; }
  // Begins the update of a step. Every rank of the node calls it.
  virtual void begin_slices() {}
  // W <- opt(W, factor x sums) at positions [begin, begin + sums.size()), with the step's learning rate. Several threads may call
  // it for slices that do not overlap.
  virtual void update_slice(std::size_t /*begin*/, std::span<const float> /*sums*/, float /*factor*/) {}

  // Number of the current step, from 1. A resumed run continues the count.
  virtual std::int64_t step() const = 0;
  // Learning rate of the current step.
  virtual double learning_rate() const = 0;
  // Epochs completed before the current step; may be a fraction.
  virtual double epoch() const = 0;
};

} // namespace dt::sync
