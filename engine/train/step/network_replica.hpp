// NetworkReplica: combines network, batches and update rule into the object that strategies drive.
#pragma once

#include "core/error.hpp"
#include "engine/data/reading/loader.hpp"
#include "engine/nn/graph/network.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/sync/exchange/gradient_noise.hpp"
#include "engine/sync/exchange/node_step.hpp"
#include "engine/sync/replica.hpp"
#include "engine/train/step/step_timer.hpp"

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

class NetworkReplica : public sync::Replica, private sync::NodeSlices {
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
    std::int64_t noise_every = 0;               // the gradient noise scale of micro-batches is measured so often; 0: never
    comm::SharedVectors* node_memory = nullptr; // holds the network's weights and gradients; null: they are this rank's alone
  };
  explicit NetworkReplica(const Parts& parts);

  void begin_step(const sync::Step& step) { step_ = step; }
  // Forgets the gradient noise scale of the warm-up.
  void begin_measuring() { noise_.forget(); }
  // In micro-batches, of one rank's gradients.
  sync::GradientNoise& noise() { return noise_; }
  // The weights that the ranks of this node share; null: they are this rank's alone. If not null, steps are made with these
  // slices, not with update().
  sync::NodeSlices* node_slices() { return parts_.node_memory != nullptr ? this : nullptr; }

  std::span<float> weights() override { return parts_.network.weights(); }
  std::span<float> gradients() override { return parts_.network.gradients(); }
  std::span<const Range> tensors() override { return tensors_; }
  std::span<const Range> statistics() override { return statistics_; }
  using sync::Replica::compute;
  // Throws Diverged if the loss is NaN or infinite.
  sync::BatchLoss compute(sync::GradientListener* listener) override;
  using sync::Replica::update;
  // Throws a run error if gradients of a scaled loss are NaN or infinite.
  void update(Range range, float gradient_factor) override;
  void apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate) override;
  sync::Step step() const override { return step_; }

 private:
  comm::SharedVectors& memory() override { return *parts_.node_memory; }
  void begin_update() override { parts_.optimizer.elementwise()->begin_slices(); }
  // Throws like update().
  void update_slice(std::size_t begin, std::span<const float> sums, float factor) override;
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
  std::vector<Range> tensors_, statistics_;
  sync::Step step_;
  sync::GradientNoise noise_;
};

} // namespace dt::train
