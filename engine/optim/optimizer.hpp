// Update rules and learning-rate schedules. Know no MPI and no layer.
#pragma once

#include "core/run_spec.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::engine {

// A stretch of the packed buffer with one rule.
struct Segment {
  std::int64_t offset, size; // floats
  bool decay;                // whether weight decay applies
};

class Optimizer {
public:
  virtual ~Optimizer() = default;
  // weights <- rule(weights, gradients, learning_rate), one pass over the buffer.
  virtual void step(std::span<float> weights, std::span<const float> gradients, double learning_rate) = 0;
};

// The rule of that name (of optimizer_names()) over a buffer of `size` floats.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, std::int64_t size, std::vector<Segment> segments);
std::vector<std::string> registered_optimizers();

// Learning rate as a pure function of progress: schedule, warm-up and linear scaling together.
class LearningRate {
public:
  // total_epochs: length of the run; ranks: for linear scaling.
  LearningRate(const OptimizerSpec& spec, double total_epochs, std::int64_t ranks);
  // At the beginning of a step, `epoch` epochs into the run.
  double at(double epoch) const;

private:
  OptimizerSpec spec_;
  double total_epochs_, base_;
};
std::vector<std::string> registered_schedules();

} // namespace dt::engine
