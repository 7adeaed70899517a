// Lookout: after which steps the ranks look up together, to agree whether to stop or to write a checkpoint.
//
// A look is one small allreduce. Looking after every step would cost a fast model dearly, so all ranks look after the same
// steps, K apart, and K follows rank 0's step time so that they look several times a second however long a step takes.
#pragma once

#include <cstdint>

namespace dt::engine {

class Lookout {
public:
  // The first look comes after the first step; the next ones about so many seconds apart.
  explicit Lookout(std::int64_t steps_done, double every_s = 0.25) : every_s_(every_s), next_(steps_done + 1) {}

  bool is_due(std::int64_t step) const { return step >= next_; }
  // K as this rank would have it, when `interval()` steps took so long. At most twice as many as before: the first steps of
  // a run are not like the others.
  std::int64_t proposal(double seconds) const;
  // What was agreed after `step`; equal on all ranks.
  void agree(std::int64_t step, std::int64_t interval);
  std::int64_t interval() const { return interval_; }

private:
  double every_s_;
  std::int64_t interval_ = 1;
  std::int64_t next_;
};

} // namespace dt::engine
