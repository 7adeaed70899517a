// StepTimer: where the time of one step goes on this rank, for the record, for the timeline and for whoever watches.
#pragma once

#include "core/run_record.hpp"
#include "engine/comm/clock.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/strategy.hpp"

#include <array>

namespace dt::engine {

// A watch a step: begin_step, the phases in any order, end_step. Phases do not overlap, so their sum is at most the step.
class StepTimer : public PhaseClock {
public:
  // Tells comm's activity what the rank does, and its trace, if there is one, how long. comm must outlive it; null: nobody is told.
  explicit StepTimer(Communicator* comm = nullptr) : comm_(comm) {}

  void begin_step();
  // Wall time since begin_step, in seconds.
  double end_step() const;
  void add(Phase phase, double seconds);
  // Seconds of each phase in this step.
  const std::array<double, phase_count>& phases() const { return phases_; }

  void begin_communication() override { begin("waits for the other ranks"); }
  void end_communication() override { end(Phase::communication); }
  void begin_update() override { begin("updates its weights"); }
  void end_update() override { end(Phase::optimizer); }

  // `what` is a string literal in the third person, as Activity::enter has it.
  void enter(const char* what) const;
  // In the timeline, under "training". The name is a string literal.
  void draw(const char* name, double begin_s, double end_s) const;

private:
  void begin(const char* what);
  void end(Phase phase);

  Communicator* comm_;
  double begin_ = 0, mark_ = 0;
  std::array<double, phase_count> phases_{};
};

} // namespace dt::engine
