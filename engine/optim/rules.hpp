// The update rules, each a pass over the packed buffer.
#pragma once

#include "engine/optim/optimizer.hpp"

namespace dt::engine {

// w <- w - lr (g + wd w)
class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerSpec& spec, std::vector<Segment> segments);
  using Optimizer::step;
  void step(std::span<float> weights, std::span<const float> gradients, double learning_rate, std::int64_t begin,
            std::int64_t end) override;

 private:
  std::vector<Segment> segments_;
  float weight_decay_;
};

// v <- mu v + (g + wd w); w <- w - lr v, with v = 0 at first.
class Momentum final : public Optimizer {
 public:
  Momentum(const OptimizerSpec& spec, std::int64_t size, std::vector<Segment> segments);
  using Optimizer::step;
  void step(std::span<float> weights, std::span<const float> gradients, double learning_rate, std::int64_t begin,
            std::int64_t end) override;
  std::vector<OptimizerState> state() override { return {{"velocity", velocity_}}; }

 private:
  std::vector<Segment> segments_;
  std::vector<float> velocity_;
  float momentum_, weight_decay_;
};

} // namespace dt::engine
