// FixedStep: a model's training step on one batch that stays: forward, loss, backward, momentum update. What is timed.
#pragma once

#include "engine/bench/bench_ranks.hpp"
#include "engine/bench/profile.hpp"
#include "engine/nn/network.hpp"
#include "engine/optim/optimizer.hpp"

namespace dt::engine {

// With the images and the classes that the model was made for, and no more memory than this machine has left beside the images.
NetworkOptions natural_options(NetworkOptions options);

class FixedStep {
public:
  // Images from a normal distribution, sample i of class i modulo the classes. Ranks, if any are given, must outlive it: then a step
  // sums the gradients over them in one allreduce of the packed buffer.
  explicit FixedStep(const NetworkOptions& options, BenchRanks* ranks = nullptr);

  // Seconds of one step and of its update alone.
  struct Took {
    double step_s = 0, update_s = 0, loss = 0;
  };
  Took run();
  // A step with every operation timed, without what ranks exchange.
  StepProfile profile();
  // Steps before the first that counts: enough for a small network to have its clock and caches, two for one that takes long.
  int warmup_steps() const;
  Network& network() { return network_; }
  double build_s() const { return build_s_; }

private:
  void update(float gradient_factor);
  double build_begin_s_;
  Network network_;
  double build_s_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::unique_ptr<Optimizer> optimizer_;
  BenchRanks* ranks_;
  double learning_rate_;
};

} // namespace dt::engine
