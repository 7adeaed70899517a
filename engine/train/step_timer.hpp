// StepTimer: where the time of one step goes on this rank.
#pragma once

#include "core/run_record.hpp"
#include "engine/comm/clock.hpp"
#include "engine/sync/strategy.hpp"

#include <array>

namespace dt::engine {

// A watch a step: begin_step, the phases in any order, end_step. Phases do not overlap, so their sum is at most the step.
class StepTimer : public PhaseClock {
public:
  void begin_step();
  // Wall time since begin_step, in seconds.
  double end_step() const;
  void add(Phase phase, double seconds);
  // Seconds of each phase in this step.
  const std::array<double, phase_count>& phases() const { return phases_; }

  void begin_communication() override { mark_ = monotonic_s(); }
  void end_communication() override { add(Phase::communication, monotonic_s() - mark_); }
  void begin_update() override { mark_ = monotonic_s(); }
  void end_update() override { add(Phase::optimizer, monotonic_s() - mark_); }

private:
  double begin_ = 0, mark_ = 0;
  std::array<double, phase_count> phases_{};
};

} // namespace dt::engine
