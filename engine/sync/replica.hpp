// Replica: a rank's copy of the model as strategies see it: packed buffers and a call that computes gradients. It hides layers
// and the library that computes them.
#pragma once

#include "core/maths/range.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace dt::sync {

class Device;

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

// The step that a replica is in.
struct Step {
  std::int64_t number = 0; // from 1; a resumed run continues the count
  double learning_rate = 0;
  double epoch = 0; // epochs completed before the step; may be a fraction
};

// The interface that strategies train. A framework (dtengine's networks, dtsim's model of them) implements its pure functions.
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
  // Those of the tensors that hold running statistics of batches (mean and variance of batch norm). They follow no gradient, so a
  // strategy may average them but must not extrapolate them: a variance would become negative.
  virtual std::span<const Range> statistics() { return {}; }
  // How many floats at the end of each tensor's range are no numbers of its gradient.
  virtual std::size_t marks() const { return 0; }
  // Forward and backward pass over this rank's next batch. The listener, if not null, is called once for every tensor.
  virtual BatchLoss compute(GradientListener* listener) = 0;
  BatchLoss compute() { return compute(nullptr); }
  // W <- opt(W, gradient_factor x gradients) with the step's learning rate, on a range of whole tensors. The ranges of one
  // step must cover every tensor exactly once.
  virtual void update(Range range, float gradient_factor) = 0;
  // W <- opt(W, gradients) on all tensors.
  void update() { update({0, tensors().back().end}, 1); }
  // weights <- opt(weights, gradients) on one range of whole tensors, with buffers and learning rate of the caller: a parameter
  // server's update for a worker. Both buffers have the layout of the replica's. Several threads may call it concurrently on the
  // same buffers if the rule keeps no state between steps; the caller accepts that concurrent updates may overwrite one another.
  virtual void apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate) = 0;
  virtual Step step() const = 0;
  // Where the weights lie if that is not the host's memory, for arithmetic there (vector.hpp); else null.
  virtual Device* device() { return nullptr; }
};

} // namespace dt::sync
