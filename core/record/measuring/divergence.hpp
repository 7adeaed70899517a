// Divergence: finds whether a training diverged, and where, from its losses in the order of its steps.
//
// A run diverged if its last training loss, or its last loss on the held-out set, is NaN or infinite. It did so at the first step
// from which on every reported loss of that kind was. A loss that becomes finite again is no divergence: with mixed precision, a
// step with too large a loss scale is skipped, and the training goes on. Such steps are counted.
#pragma once

#include "core/record/run_record.hpp"

namespace dt {

class Divergence {
 public:
  // A step at which the losses turn from finite to NaN or infinite, or back; for messages during the run.
  enum class Turn { none, bad, good };

  Turn add_step(std::int64_t step, const Reported& loss);
  void add_evaluation(std::int64_t step, const Reported& held_out_loss);

  // Steps with a training loss of NaN or infinity, and the first of them.
  std::int64_t not_finite_steps() const { return not_finite_steps_; }
  std::int64_t first_not_finite_step() const { return first_not_finite_step_; }
  // Fills in diverged_step, divergence and not_finite_steps. `whose`: "of rank 3", if others have other losses. Of several
  // divergences a result keeps the earliest.
  void fill(RunResult& result, std::string_view whose = "") const;

 private:
  struct Series { // of losses without a finite one, up to now
    std::int64_t step = not_counted;
    double first = 0;
    void add(std::int64_t at, double loss);
  };

  Series training_, held_out_;
  std::int64_t not_finite_steps_ = 0, first_not_finite_step_ = 0;
};

// "the loss is NaN", "the loss of rank 3 is infinite".
std::string words_of_loss(double not_finite, std::string_view whose = "");

} // namespace dt
