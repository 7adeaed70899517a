// NetworkReplica: network, batches and update rule as the one thing that strategies drive.
#pragma once

#include "engine/data/source.hpp"
#include "engine/nn/network.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/sync/replica.hpp"
#include "engine/train/step_timer.hpp"

namespace dt::engine {

// Where each parameter lies in the packed buffers and whether it decays: biases do not.
std::vector<Segment> segments_of(const Network& network);

class NetworkReplica : public Replica {
public:
  // References are kept and must outlive it. Reports input, forward and backward times to the timer.
  struct Parts {
    Network& network;
    BatchLoader& loader;
    Optimizer& optimizer;
    StepTimer& timer;
  };
  explicit NetworkReplica(const Parts& parts) : parts_(parts) {}

  // For the updates from now on.
  void set_learning_rate(double rate) { learning_rate_ = rate; }

  std::span<float> weights() override { return parts_.network.weights(); }
  std::span<float> gradients() override { return parts_.network.gradients(); }
  // A run error when the loss is not a finite number.
  BatchLoss compute() override;
  void update() override;

private:
  Parts parts_;
  double learning_rate_ = 0;
};

} // namespace dt::engine
