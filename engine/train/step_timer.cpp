#include "engine/train/step_timer.hpp"

namespace dt::engine {

void StepTimer::begin_step()
{
  phases_.fill(0);
  begin_ = monotonic_s();
}

double StepTimer::end_step() const { return monotonic_s() - begin_; }

void StepTimer::add(Phase phase, double seconds) { phases_[static_cast<std::size_t>(phase)] += seconds; }

} // namespace dt::engine
