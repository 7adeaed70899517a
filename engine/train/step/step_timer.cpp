#include "engine/train/step/step_timer.hpp"

namespace dt::train {

void StepTimer::begin_step()
{
  phases_.fill(0);
  begin_ = comm::monotonic_s();
}

double StepTimer::end_step() const
{
  const double now_s = comm::monotonic_s();
  draw("step", begin_, now_s);
  return now_s - begin_;
}

void StepTimer::add(Phase phase, double seconds) { phases_[static_cast<std::size_t>(phase)] += seconds; }

void StepTimer::begin(comm::Doing doing, const char* what)
{
  enter(doing, what);
  mark_ = comm::monotonic_s();
}

void StepTimer::end(Phase phase)
{
  const double now_s = comm::monotonic_s();
  add(phase, now_s - mark_);
  draw(phase_names[static_cast<std::size_t>(phase)].data(), mark_, now_s);
  enter(comm::Doing::works, "goes on with its step");
}

void StepTimer::enter(comm::Doing doing, const char* what) const
{
  if (comm_ != nullptr) comm_->activity().enter(doing, what);
}

void StepTimer::draw(const char* name, double begin_s, double end_s) const
{
  if (comm_ != nullptr && comm_->trace() != nullptr)
    comm_->trace()->add({.name = name, .track = "training", .begin_s = begin_s, .end_s = end_s});
}

} // namespace dt::train
