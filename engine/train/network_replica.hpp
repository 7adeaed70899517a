// NetworkReplica: network, batches and update rule as the one thing that strategies drive.
#pragma once

#include "engine/data/source.hpp"
#include "engine/nn/network.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/sync/replica.hpp"
#include "engine/train/step_timer.hpp"

namespace dt::engine {

// Where each parameter lies in the packed buffers, and what the update rule makes of it: weights decay and have rates of their own
// under LARS; biases, scales and shifts decay where the spec says so; statistics follow their values.
std::vector<Segment> segments_of(const Network& network, const OptimizerSpec& spec = {});

class NetworkReplica : public Replica {
public:
  // References are kept and must outlive it. Reports input, forward and backward times to the timer.
  struct Parts {
    Network& network;
    BatchLoader& loader;
    Optimizer& optimizer;
    StepTimer& timer;
  };
  explicit NetworkReplica(const Parts& parts);

  // Of the step that begins: its number, its learning rate, and the epochs done before it.
  struct Step {
    std::int64_t number = 0; // from 1
    double learning_rate = 0, epoch = 0;
  };
  void begin_step(const Step& step) { step_ = step; }

  std::span<float> weights() override { return parts_.network.weights(); }
  std::span<float> gradients() override { return parts_.network.gradients(); }
  std::span<const Stretch> tensors() override { return tensors_; }
  using Replica::compute;
  // A run error when the loss is not a finite number.
  BatchLoss compute(GradientListener* listener) override;
  using Replica::update;
  void update(const Stretch& stretch, float gradient_factor) override;
  void apply(const Stretch& stretch, std::span<float> weights, std::span<const float> gradients, double learning_rate) override;
  std::int64_t step() const override { return step_.number; }
  double learning_rate() const override { return step_.learning_rate; }
  double epoch() const override { return step_.epoch; }

private:
  Parts parts_;
  std::vector<Stretch> tensors_;
  Step step_;
};

} // namespace dt::engine
