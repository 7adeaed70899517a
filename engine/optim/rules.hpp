// The update rules, each a pass over the packed buffer.
#pragma once

#include "engine/optim/optimizer.hpp"

namespace dt::engine {

// w <- w - lr (g + wd w)
class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerSpec& spec, std::vector<Segment> segments);
  using Optimizer::step;
  void step(std::span<float> weights, std::span<const float> gradients, double learning_rate, const Part& part) override;

 private:
  std::vector<Segment> segments_;
  float weight_decay_;
};

// v <- mu v + (g + wd w); w <- w - lr v, with v = 0 at first.
class Momentum final : public Optimizer {
 public:
  Momentum(const OptimizerSpec& spec, std::int64_t size, std::vector<Segment> segments);
  using Optimizer::step;
  void step(std::span<float> weights, std::span<const float> gradients, double learning_rate, const Part& part) override;
  std::vector<OptimizerState> state() override { return {{"velocity", velocity_}}; }

 private:
  std::vector<Segment> segments_;
  std::vector<float> velocity_;
  float momentum_, weight_decay_;
};

// The layer's own share of the learning rate: trust |w| / (|g| + wd |w|), and 1 where one of the norms is zero.
double lars_factor(double trust, double weight_norm, double gradient_norm, double weight_decay);

// LARS (You, Gitman, Ginsburg: Large Batch Training of Convolutional Networks), in this form of it, of each segment l:
//   lambda = lars_factor(trust, |w_l|, |g_l|, wd); v <- mu v + lr lambda (g + wd w); w <- w - v, with v = 0 at first.
// The learning rate is inside the velocity, so a change of it acts on later gradients only. Segments without decay (biases) have
// lambda = 1 and no decay. Padding is zero, so norms over a blocked layout are those of the plain tensor.
class Lars final : public Optimizer {
 public:
  Lars(const OptimizerSpec& spec, std::int64_t size, std::vector<Segment> segments);
  using Optimizer::step;
  void step(std::span<float> weights, std::span<const float> gradients, double learning_rate, const Part& part) override;
  std::vector<OptimizerState> state() override { return {{"velocity", velocity_}}; }

 private:
  std::vector<Segment> segments_;
  std::vector<float> velocity_;
  double trust_, momentum_, weight_decay_;
};

} // namespace dt::engine
