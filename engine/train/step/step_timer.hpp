// StepTimer: measures the phases of each step on this rank, for the run record, the timeline and the stall watchdog.
#pragma once

#include "core/record/event_record.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/sync/strategy.hpp"

#include <array>

namespace dt::train {

// Order of calls per step: begin_step, the phases in any order, end_step. Phases do not overlap, so their sum is at most the
// step.
class StepTimer : public sync::PhaseClock {
 public:
  // Reports phases to comm's activity, and to its trace if there is one. comm must outlive the timer; null: no reports.
  explicit StepTimer(comm::Communicator* comm = nullptr) : comm_(comm) {}

  void begin_step();
  // Wall time in seconds since begin_step.
  double end_step() const;
  void add(Phase phase, double seconds);
  // Seconds of each phase in this step.
  const std::array<double, phase_count>& phases() const { return phases_; }

  void begin_communication() override { begin(comm::Doing::waits, "waits for the other ranks"); }
  void end_communication() override { end(Phase::communication); }
  void begin_update() override { begin(comm::Doing::works, "updates its weights"); }
  void end_update() override { end(Phase::optimizer); }

  // `what` must be a string literal in the third person, as for Activity::enter.
  void enter(comm::Doing doing, const char* what) const;
  // Adds a span to the timeline's track "training". The name must be a string literal.
  void draw(const char* name, double begin_s, double end_s) const;

 private:
  void begin(comm::Doing doing, const char* what);
  void end(Phase phase);

  comm::Communicator* comm_;
  double begin_ = 0, mark_ = 0;
  std::array<double, phase_count> phases_{};
};

} // namespace dt::train
