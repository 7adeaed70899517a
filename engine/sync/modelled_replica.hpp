// ModelledReplica: a replica with the buffers of a large network and a modelled compute time, to measure or simulate
// communication.
#pragma once

#include "engine/comm/machine/buffer.hpp"
#include "engine/sync/replica.hpp"

#include <cstdint>
#include <vector>

namespace dt::sync {

struct ModelledLayer {
  std::int64_t weights, biases; // parameters of its two tensors; 0: the layer has no such tensor
  double work;                  // its part of the backward pass, in any unit
};

// AlexNet without groups, 224 x 224, 1000 classes: 8 layers, 16 tensors, 62.4 million parameters.
std::vector<ModelledLayer> alexnet_layers();

// How many units of a modelled replica's work this thread computes in a second. Measured now in bursts, of which the fastest
// counts.
double work_units_per_s();

class ModelledReplica : public Replica {
 public:
  struct Options {
    std::vector<ModelledLayer> layers = alexnet_layers();
    double scale = 1;                // factor on the size of all tensors
    double forward_s = 0.02;         // per batch
    double backward_s = 0.04;        // per batch, divided among the layers by their work
    bool sleeps = false;             // true: sleeps, so that ranks may share a core; false: keeps its core busy
    double units_per_s = 0;          // above 0: computes as many units of work as take that time alone (work_units_per_s())
    float start = 0, slope = 0.001F; // start: initial value of all weights; slope: value of all gradients
    std::size_t update_vectors = 3;  // vectors as long as the weights that the update rule reads or writes
    double update_s = 0;             // above 0: how long the update of all weights takes, in place of that traffic
  };
  explicit ModelledReplica(const Options& options);

  std::span<float> weights() override { return weights_; }
  std::span<float> gradients() override { return gradients_; }
  std::span<const Range> tensors() override { return tensors_; }
  using Replica::compute;
  // Takes forward_s + backward_s seconds and leaves the gradients unchanged. Returns loss 0 for one sample.
  BatchLoss compute(GradientListener* listener) override;
  using Replica::update;
  // w <- w - 0.01 factor g
  void update(Range range, float gradient_factor) override;
  void apply(Range range, std::span<float> weights, std::span<const float> gradients, double learning_rate) override;
  // Call it before every step. The step's computation takes `pace` times the options' time.
  void begin_step(double pace = 1)
  {
    ++step_;
    pace_ = pace;
  }
  Step step() const override { return {.number = step_, .learning_rate = 0.01, .epoch = 0}; }

  // For each tensor: seconds from the moment when its gradient is complete to the end of the backward pass.
  std::vector<double> lead_s() const;

 protected:
  // Times of the current step.
  double forward_s() const { return pace_ * options_.forward_s; }
  double backward_s() const { return pace_ * options_.backward_s; }

 private:
  void spend(double seconds) const;

  Options options_;
  std::vector<Range> tensors_;
  std::vector<double> shares_;             // each layer's share of the time of the backward pass
  std::vector<std::size_t> first_tensors_; // of each layer, and behind the last layer the number of tensors
  comm::Floats weights_, gradients_;
  std::int64_t step_ = 0;
  double pace_ = 1;
};

} // namespace dt::sync
