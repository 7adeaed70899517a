// NetworkReplica: combines network, batches and update rule into the object that strategies drive.
#pragma once

#include "core/error.hpp"
#include "engine/data/reading/loader.hpp"
#include "engine/nn/graph/network.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/sync/replica.hpp"
#include "engine/train/loop/step_timer.hpp"

#include <span>
#include <string>

namespace dt::train {

// The position of each parameter in the packed buffers, and how the update rule treats it. Weights decay and have their own
// rates under LARS. Biases, scales and shifts decay if the spec says so. Batch norm's running statistics follow each step's value
// (optim::Segment::statistic).
std::vector<optim::Segment> segments_of(const nn::Network& network, const OptimizerSpec& spec = {});

// Thrown when the loss is NaN or infinite. The message ends with the origin; a caller that knows the checkpoints adds them and
// advice.
class Diverged : public Error {
 public:
  using Error::Error;
};

class NetworkReplica : public sync::Replica {
 public:
  // References must outlive the replica. It reports input, forward and backward times to the timer.
  struct Parts {
    nn::Network& network;      // for one micro-batch
    data::BatchLoader& loader; // its batches have `accumulation` times as many samples
    optim::Optimizer& optimizer;
    StepTimer& timer;
    std::int64_t accumulation = 1;              // micro-batches per batch; gradients are the mean over all of them
    double loss_scale = 1;                      // gradients are larger by this factor until they are used
    double modelled_rate = 0;                   // samples/s; a pass sleeps until its modelled time has passed. 0: not modelled
    comm::SharedVectors* node_memory = nullptr; // holds the network's weights and gradients; null: they are this rank's alone
  };
  explicit NetworkReplica(const Parts& parts);

  // The current step: its number, its learning rate, and the epochs completed before it.
  struct Step {
    std::int64_t number = 0; // from 1
    double learning_rate = 0, epoch = 0;
  };
  void begin_step(const Step& step) { step_ = step; }

  std::span<float> weights() override { return parts_.network.weights(); }
  std::span<float> gradients() override { return parts_.network.gradients(); }
  std::span<const Range> tensors() override { return tensors_; }
  using sync::Replica::compute;
  // Throws Diverged if the loss is NaN or infinite.
  sync::BatchLoss compute(sync::GradientListener* listener) override;
  using sync::Replica::update;
  // Throws a run error if gradients of a scaled loss are NaN or infinite.
  void update(Range range, float gradient_factor) override;
  bool updates_whole() const override { return parts_.optimizer.needs_whole(); }
  void apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate) override;
  comm::SharedVectors* node_memory() override { return parts_.node_memory; }
  void begin_slices() override { parts_.optimizer.begin_slices(); }
  // Throws like update().
  void update_slice(std::size_t begin, std::span<const float> sums, float factor) override;
  std::int64_t step() const override { return step_.number; }
  double learning_rate() const override { return step_.learning_rate; }
  double epoch() const override { return step_.epoch; }

 private:
  const data::Batch& read_batch();
  double compute_part(const data::Batch& batch, std::int64_t part, sync::GradientListener* listener);
  void add_to_sum();
  double take_sum(std::size_t parameter);
  void require_finite(std::span<const float> gradients) const;
  float unscaled(float gradient_factor) const;
  void step_rule(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate,
                 float gradient_factor);
  [[noreturn]] void diverge(double loss, std::span<const float> images, std::span<const std::int32_t> labels);
  std::string origin_of_divergence(std::span<const float> images, std::span<const std::int32_t> labels);

  Parts parts_;
  std::vector<float> sum_; // packed sum of gradients of the batch's earlier micro-batches
  std::vector<Range> tensors_;
  Step step_;
};

} // namespace dt::train
