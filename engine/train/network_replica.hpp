// NetworkReplica: network, batches and update rule as the one thing that strategies drive.
#pragma once

#include "core/error.hpp"
#include "engine/data/source.hpp"
#include "engine/nn/network.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/sync/replica.hpp"
#include "engine/train/step_timer.hpp"

#include <span>
#include <string>

namespace dt::engine {

// Where each parameter lies in the packed buffers, and what the update rule makes of it: weights decay and have rates of their own
// under LARS; biases, scales and shifts decay where the spec says so; statistics follow their values.
std::vector<Segment> segments_of(const Network& network, const OptimizerSpec& spec = {});

// The loss is no finite number. The message ends with what was found; whoever knows the checkpoints adds them and what to do.
class Diverged : public Error {
public:
  using Error::Error;
};

class NetworkReplica : public Replica {
public:
  // References are kept and must outlive it. Reports input, forward and backward times to the timer.
  struct Parts {
    Network& network;    // for batches of one micro-batch
    BatchLoader& loader; // of `accumulation` times as many samples
    Optimizer& optimizer;
    StepTimer& timer;
    std::int64_t accumulation = 1; // micro-batches of a batch; gradients are the mean over all of them
    double loss_scale = 1;         // gradients are so many times too large until they are used
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
  // Throws Diverged when the loss is not a finite number.
  BatchLoss compute(GradientListener* listener) override;
  using Replica::update;
  // A run error when gradients of a scaled loss are not finite numbers.
  void update(const Stretch& stretch, float gradient_factor) override;
  bool updates_whole() const override { return parts_.optimizer.needs_whole(); }
  void apply(const Stretch& stretch, std::span<float> weights, std::span<const float> gradients, double learning_rate) override;
  std::int64_t step() const override { return step_.number; }
  double learning_rate() const override { return step_.learning_rate; }
  double epoch() const override { return step_.epoch; }

private:
  const Batch& read_batch();
  double compute_part(const Batch& batch, std::int64_t part, GradientListener* listener);
  void add_to_sum();
  double take_sum(std::size_t parameter);
  void step_rule(const Stretch& stretch, std::span<float> weights, std::span<const float> gradients, double learning_rate,
                 float gradient_factor);
  [[noreturn]] void diverge(double loss, std::span<const float> images, std::span<const std::int32_t> labels);
  std::string origin_of_divergence(std::span<const float> images, std::span<const std::int32_t> labels);

  Parts parts_;
  std::vector<float> sum_; // of the gradients of a batch's earlier micro-batches, packed
  std::vector<Stretch> tensors_;
  Step step_;
};

} // namespace dt::engine
