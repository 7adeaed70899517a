// TrainingClock: the time that a run has taken over all its attempts, and the parts of it in evaluations and checkpoints.
#pragma once

#include "engine/comm/machine/clock.hpp"
#include "engine/train/weights/checkpoint.hpp"

namespace dt::train {

// Each rank has its own clock. All times are in seconds.
class TrainingClock {
 public:
  // Continues the times of `resumed`, the progress from which this attempt resumes (a new run: zeros). now_s is the clock to
  // read; tests pass another one.
  explicit TrainingClock(const TrainingProgress& resumed, double (*now_s)() = comm::monotonic_s)
      : now_s_(now_s), resumed_wall_s_(resumed.wall_s), evaluation_s_(resumed.evaluation_s), checkpoint_s_(resumed.checkpoint_s)
  {
  }

  // Call it when this attempt's first step begins, and before the functions below.
  void start() { begin_s_ = now_s_(); }
  // Counts the seconds that an evaluation or a checkpoint has taken.
  void add_evaluation(double seconds) { evaluation_s_ += seconds; }
  void add_checkpoint(double seconds) { checkpoint_s_ += seconds; }

  // Wall time since the first step of the first attempt, without the time between attempts; includes evaluations and checkpoints.
  double wall_s() const { return resumed_wall_s_ + now_s_() - begin_s_; }
  double evaluation_s() const { return evaluation_s_; }
  double checkpoint_s() const { return checkpoint_s_; }
  // Wall time without evaluations and checkpoints.
  double training_s() const { return wall_s() - evaluation_s_ - checkpoint_s_; }

 private:
  double (*now_s_)();
  double resumed_wall_s_;
  double begin_s_ = 0; // when this attempt's first step began
  double evaluation_s_, checkpoint_s_;
};

} // namespace dt::train
