// TrainingPlan: how many steps, of how many samples, and after which of them the model is evaluated. Pure numbers.
#pragma once

#include "core/run_spec.hpp"

#include <cstdint>

namespace dt::engine {

struct TrainingPlan {
  std::int64_t samples = 0; // of the training set
  std::int64_t global_batch = 0, batch_per_rank = 0;
  std::int64_t micro_batch = 0; // samples that the network computes at once
  std::int64_t steps = 0, warmup_steps = 0;
  double epochs = 0;            // length of the run, for the learning rate
  double eval_every_epochs = 0; // 0: only at the end

  // Epochs trained when `step` steps are done.
  double epoch_after(std::int64_t step) const;
  // True after the step that completes another eval_every_epochs, and after the last one.
  bool evaluates_after(std::int64_t step) const;
};

// The plan for a training set of so many samples. Epochs are rounded up to whole steps. A recipe error when the batch does
// not divide among the ranks, or not into its micro-batches, or warm-up leaves no step to measure.
TrainingPlan make_plan(const RunSpec& spec, std::int64_t samples);

} // namespace dt::engine
