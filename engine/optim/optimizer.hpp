// Update rules and learning-rate schedules. Independent of MPI and of layers.
#pragma once

#include "core/maths/range.hpp"
#include "core/spec/run_spec.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::optim {

// Rate at which a running statistic follows each step's value; the same for all rules.
inline constexpr double statistic_rate = 0.1;

// A part of the packed buffer that is updated in one way.
struct Segment {
  Range range;           // in floats from the buffer's start
  bool decay;            // whether weight decay applies
  bool own_rate = false; // whether LARS computes a separate learning rate for it from its norms
  // A running statistic, whose gradient g is this step's value. All rules update it as w <- w + statistic_rate (g - w), without
  // learning rate, decay or momentum. It counts in no norm.
  bool statistic = false;
};

// State that a rule keeps between steps: a buffer with the weights' layout, or one number per segment.
struct OptimizerState {
  std::string name; // "velocity"
  std::span<float> values;
  bool per_segment = false;
};

// A rule that updates every float without regard to any other, so that a step may be made of slices with any bounds: each rank of
// a node updates its slice of weights and buffers in shared memory.
class ElementwiseRule {
 public:
  virtual ~ElementwiseRule() = default;
  // Begins a step of slices.
  virtual void begin_slices() = 0;
  // Updates the weights at [begin, begin + gradients.size()) with the gradients of these positions, multiplied by `factor`. The
  // bits are those of Optimizer::step(). Threads may call it concurrently for slices that do not overlap. Call begin_slices()
  // before.
  virtual void step_slice(std::span<float> weights, std::size_t begin, std::span<const float> gradients, double learning_rate,
                          float factor) = 0;
  // Continues with the buffers that are as long as the weights in this memory, one after the other in the order of
  // Optimizer::state(). It must hold the rule's start, zeros, and outlive the rule. Call it before the first step.
  virtual void keep_buffers_in(std::span<const std::span<float>> memory) = 0;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // weights <- rule(weights, gradients, learning_rate), in one pass over the segments. Long buffers are shared among the calling
  // thread's OpenMP team. Both spans must have the size that the rule was made for. The result has equal bits for every team
  // size.
  void step(std::span<float> weights, std::span<const float> gradients, double learning_rate)
  {
    step(weights, gradients, learning_rate, {{0, weights.size()}});
  }
  // The same for some of the segments, with gradients multiplied by a factor: the 1/P for a sum over P ranks then needs no extra
  // pass. With clip_norm a step must cover all segments, because their gradients are clipped by their total norm; otherwise it
  // throws an internal error.
  struct Part {
    Range range; // in floats from the buffer's start; must contain each segment completely or not at all
    float gradient_factor = 1;
    bool contains(const Segment& segment) const { return range.contains(segment.range.begin); }
  };
  virtual void step(std::span<float> weights, std::span<const float> gradients, double learning_rate, const Part& part) = 0;
  // This rule as one of slices; null if its steps compute norms over gradients: those of LARS, or a clipping one.
  virtual ElementwiseRule* elementwise() { return nullptr; }

  // All state between steps, in a fixed order. With this state and the weights a run can be resumed.
  virtual std::vector<OptimizerState> state() { return {}; }
};

// The velocity of `momentum` and `nesterov` as a sum of gradients or of steps. Both are equal for a constant learning rate; if
// the rate changes, they differ:
enum class Velocity {
  of_gradients, // v <- mu v + g, w <- w - lr v: a new rate applies to the whole velocity, as in PyTorch
  of_steps,     // v <- mu v - lr g, w <- w + v: every gradient keeps the rate of its step and its worker
};

// The form in the strategy's paper: of_steps if the strategy defines the momentum itself (async-msgd, async-measgd), otherwise
// of_gradients.
Velocity velocity_of(const std::string& strategy);

// The rule spec.name (one of optimizer_names()) for a buffer of `size` floats. Segments are in ascending order and do not
// overlap. Floats outside all segments stay unchanged. Throws
// a recipe error for an unknown name, an internal error for a segment outside the buffer.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, std::size_t size, std::vector<Segment> segments,
                                          Velocity velocity = Velocity::of_gradients);
std::vector<std::string> registered_optimizers();

// The learning rate as a pure function of progress; combines schedule, warm-up and linear scaling.
class LearningRate {
 public:
  // total_epochs: length of the run (0: the schedule stays at its start). ranks: factor of linear scaling, also for the final
  // rate. Throws a recipe error for an unknown schedule.
  LearningRate(const OptimizerSpec& spec, double total_epochs, std::int64_t ranks);
  // The rate for a step that begins `epoch` epochs into the run: warm-up(epoch) x schedule(epoch). The schedule starts at epoch
  // 0, so the warm-up multiplies its first part. A warm-up longer than the run never reaches the full rate.
  double at(double epoch) const;

 private:
  OptimizerSpec spec_;
  double total_epochs_, scale_;
};
std::vector<std::string> registered_schedules();

} // namespace dt::optim
