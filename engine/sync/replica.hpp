// Replica: a rank's copy of the model as strategies see it: packed numbers and a call that computes. No layer, no oneDNN.
#pragma once

#include <cstdint>
#include <span>

namespace dt::engine {

// Loss of one batch on one rank.
struct BatchLoss {
  double mean = 0; // over the batch's samples
  std::int64_t samples = 0;
};

class Replica {
public:
  virtual ~Replica() = default;
  // All parameters in one contiguous, 64-byte aligned buffer; padding between tensors is zero and stays zero.
  virtual std::span<float> weights() = 0;
  // Gradients of the mean loss over this rank's batch, laid out as the weights. Valid after compute().
  virtual std::span<float> gradients() = 0;
  // Forward and backward over this rank's next batch.
  virtual BatchLoss compute() = 0;
  // W <- opt(W, gradients) with the step's learning rate.
  virtual void update() = 0;
};

} // namespace dt::engine
