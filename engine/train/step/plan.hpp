// TrainingPlan: number and size of the steps, and the steps after which the model is evaluated. Pure.
#pragma once

#include "core/spec/run_spec.hpp"

#include <cstdint>

namespace dt::train {

struct TrainingPlan {
  std::int64_t samples = 0; // in the training set
  std::int64_t global_batch = 0, batch_per_rank = 0;
  std::int64_t micro_batch = 0; // samples that the network computes at once
  std::int64_t steps = 0, warmup_steps = 0;
  double epochs = 0;            // length of the run; the learning rate depends on it
  double eval_every_epochs = 0; // 0: only at the end

  // Epochs trained after `step` steps.
  double epoch_after(std::int64_t step) const;
  // Whether `step` completes another eval_every_epochs, or is the last step.
  bool evaluates_after(std::int64_t step) const;
};

// Makes the plan for a training set of `samples` samples. Epochs are rounded up to whole steps. Throws a recipe error if the
// batch cannot be divided among the ranks or into micro-batches, or if no step remains after the warm-up.
TrainingPlan make_plan(const RunSpec& spec, std::int64_t samples);

} // namespace dt::train
