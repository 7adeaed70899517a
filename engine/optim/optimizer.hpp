// Update rules and learning-rate schedules. Know no MPI and no layer.
#pragma once

#include "core/run_spec.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::engine {

// A running statistic follows each step's value at this rate, whatever the rule.
inline constexpr float statistic_rate = 0.1F;

// A stretch of the packed buffer with one rule.
struct Segment {
  std::int64_t offset, size; // floats
  bool decay;                // whether weight decay applies
  bool own_rate = false;     // whether LARS gives it a learning rate by its norms
  // A running statistic, whose gradient g is this step's value. Every rule alike takes w <- w + statistic_rate (g - w): no learning
  // rate, no decay, no momentum; it counts in no norm.
  bool statistic = false;
};

// What a rule keeps from step to step: a buffer laid out as the weights it was made for, or a number a segment.
struct OptimizerState {
  std::string name; // "velocity"
  std::span<float> values;
  bool per_segment = false;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // weights <- rule(weights, gradients, learning_rate), one pass over the segments, by the calling thread's OpenMP team where they
  // are long. Both have the size the rule was made for. Equal bits whatever the team.
  void step(std::span<float> weights, std::span<const float> gradients, double learning_rate)
  {
    step(weights, gradients, learning_rate, {0, static_cast<std::int64_t>(weights.size())});
  }
  // The same for a part of the segments, and factor x gradients: 1/P for a sum over P ranks costs no pass of its own.
  struct Part {
    std::int64_t begin, end; // floats from the buffer's start; a segment lies in it wholly or not at all
    float gradient_factor = 1;
    bool contains(const Segment& segment) const { return segment.offset >= begin && segment.offset < end; }
  };
  virtual void step(std::span<float> weights, std::span<const float> gradients, double learning_rate, const Part& part) = 0;
  // Whether a step must be of all segments at once: their gradients together are clipped. An internal error when it is not.
  virtual bool needs_whole() const = 0;
  // All that a step leaves behind for the next one, in a fixed order: with it and the weights a run can be taken up again.
  virtual std::vector<OptimizerState> state() { return {}; }
};

// What the velocity of `momentum` and `nesterov` is a sum of. Equal where the learning rate stays; where it changes they differ:
enum class Velocity {
  of_gradients, // v <- mu v + g, w <- w - lr v: the new rate acts on all of the velocity, as in PyTorch
  of_steps,     // v <- mu v - lr g, w <- w + v: every gradient keeps the rate of its own step, and of its own worker
};

// The form that the strategy's paper has: of steps where it defines the momentum itself (async-msgd, async-measgd), else of gradients.
Velocity velocity_of(const std::string& strategy);

// The rule of that name (of optimizer_names()) over a buffer of `size` floats. What lies in no segment stays untouched.
// A recipe error for an unknown name, an internal error for a segment outside the buffer.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, std::int64_t size, std::vector<Segment> segments,
                                          Velocity velocity = Velocity::of_gradients);
std::vector<std::string> registered_optimizers();

// Learning rate as a pure function of progress: schedule, warm-up and linear scaling together.
class LearningRate {
 public:
  // total_epochs: length of the run (0: no schedule proceeds); ranks: for linear scaling, of the final rate too.
  // A recipe error for an unknown schedule.
  LearningRate(const OptimizerSpec& spec, double total_epochs, std::int64_t ranks);
  // At the beginning of a step, `epoch` epochs into the run: warm-up(epoch) x schedule(epoch). The schedule runs from epoch 0
  // on, so the warm-up multiplies its first stretch; a warm-up longer than the run never reaches the full rate.
  double at(double epoch) const;

 private:
  OptimizerSpec spec_;
  double total_epochs_, scale_;
};
std::vector<std::string> registered_schedules();

} // namespace dt::engine
