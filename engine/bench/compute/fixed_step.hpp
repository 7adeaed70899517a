// FixedStep: one training step of a model on a fixed batch (forward, loss, backward, momentum update), to be timed.
#pragma once

#include "engine/bench/comm/bench_ranks.hpp"
#include "engine/bench/compute/profile.hpp"
#include "engine/nn/graph/network.hpp"
#include "engine/optim/optimizer.hpp"

namespace dt::bench {

// Sets the model's natural images and classes, and a memory limit of what this machine has available besides the images.
nn::NetworkOptions natural_options(nn::NetworkOptions options);

class FixedStep {
 public:
  // Images are normally distributed; sample i has class i modulo the number of classes. `ranks`, if given, must outlive the
  // object; each step then sums the gradients over the ranks in one allreduce of the packed buffer. With the allreduce
  // `hierarchical` on one node, the ranks share one copy of the weights, as in training (sync::shares_weights).
  explicit FixedStep(const nn::NetworkOptions& options, BenchRanks* ranks = nullptr);

  // Seconds of a step, and of its passes and its update alone.
  struct Took {
    double step_s = 0;
    nn::ComputeTimes passes;
    double update_s = 0, loss = 0;
  };
  Took run();
  // One step with every operation timed, without communication.
  StepProfile profile();
  // Warm-up steps before the measurement: enough to settle clock and caches for a small network, two for a large one.
  int warmup_steps() const;
  nn::Network& network() { return network_; }
  double build_s() const { return build_s_; }

 private:
  nn::ParameterMemory parameter_memory();
  std::unique_ptr<optim::Optimizer> make_optimizer();
  void update(float gradient_factor);
  double sum_and_update();
  BenchRanks* ranks_;
  double build_begin_s_;
  std::unique_ptr<comm::SharedVectors> node_memory_; // if the ranks share one copy of the weights; otherwise null
  nn::Network network_;
  double build_s_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  double learning_rate_;
};

} // namespace dt::bench
