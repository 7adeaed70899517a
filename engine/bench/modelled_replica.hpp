// ModelledReplica: a replica with real buffers of a big network's size and a modelled compute time, for measuring communication.
#pragma once

#include "engine/nn/aligned_buffer.hpp"
#include "engine/sync/replica.hpp"

#include <cstdint>
#include <vector>

namespace dt::engine {

// A layer with a weight tensor and a bias.
struct ModelledLayer {
  std::int64_t weights, biases; // parameters
  double work;                  // multiplications of one sample, in any unit
};

// AlexNet without groups, 224 x 224, 1000 classes: 8 layers, 16 tensors, 62.4 million parameters.
std::vector<ModelledLayer> alexnet_layers();

class ModelledReplica : public Replica {
public:
  struct Options {
    std::vector<ModelledLayer> layers = alexnet_layers();
    double scale = 1;          // of all tensors' sizes
    double forward_s = 0.02;   // of one batch, spread over the layers by their work
    double backward_s = 0.04;
    bool sleeps = false;       // else it burns its core; sleeping ranks may share one
    float start = 0, slope = 0.001F; // all weights at first, and all gradients
  };
  explicit ModelledReplica(const Options& options);

  std::span<float> weights() override { return weights_.floats(); }
  std::span<float> gradients() override { return gradients_.floats(); }
  std::span<const Stretch> tensors() override { return tensors_; }
  using Replica::compute;
  // Takes forward_s + backward_s; the gradients stay what they are. Loss 0 of one sample.
  BatchLoss compute(GradientListener* listener) override;
  using Replica::update;
  // w <- w - 0.01 factor g
  void update(const Stretch& stretch, float gradient_factor) override;
  void apply(const Stretch& stretch, std::span<float> weights, std::span<const float> gradients, double learning_rate) override;
  // Before every step.
  void begin_step() { ++step_; }
  std::int64_t step() const override { return step_; }
  double learning_rate() const override { return 0.01; }
  double epoch() const override { return 0; }

  // Seconds from the end of the backward pass back to the moment at which each tensor's gradient was there.
  std::vector<double> lead_s() const;

private:
  void spend(double until_s) const;

  Options options_;
  std::vector<Stretch> tensors_;
  std::vector<double> shares_; // of each layer in the time of a pass
  AlignedBuffer weights_, gradients_;
  std::int64_t step_ = 0;
};

} // namespace dt::engine
