// Lookout: the steps after which all ranks look for wishes (stop, checkpoint) together.
//
// A look is one small allreduce, which would be too expensive after every step of a fast model. So all ranks look every K steps,
// and K follows rank 0's step time: they look several times per second for any step time.
#pragma once

#include <cstdint>

namespace dt::train {

class Lookout {
 public:
  // The first look comes after the first step, the following ones about every_s seconds apart.
  explicit Lookout(std::int64_t steps_done, double every_s = 0.25) : every_s_(every_s), next_(steps_done + 1) {}

  bool is_due(std::int64_t step) const { return step >= next_; }
  // Proposes K, given that the last `interval()` steps took `seconds`. At most twice the previous K, because the first steps of a
  // run are not typical.
  std::int64_t proposal(double seconds) const;
  // Sets the interval that was agreed after `step`. Must be equal on all ranks.
  void agree(std::int64_t step, std::int64_t interval);
  std::int64_t interval() const { return interval_; }

 private:
  double every_s_;
  std::int64_t interval_ = 1;
  std::int64_t next_;
};

} // namespace dt::train
