// Waiting in simulated time.
#include "engine/comm/machine/pause.hpp"

#include "engine/sim/machine/rank_time.hpp"

#include <algorithm>
#include <cmath>

namespace dt::comm {

void pause_s(double seconds)
{
  if (seconds > 0) sim::spend_s(seconds);
}

// A poll that took no time would never see another rank write. Each pause is a hundredth of the wait so far, so that a wait ends
// at most 1 % late and costs few polls.
void pause_between_polls(int polls)
{
  constexpr double first_s = 100e-9, growth = 1.01, longest_s = 1e-3;
  pause_s(std::min(first_s * std::pow(growth, polls), longest_s));
}

} // namespace dt::comm
