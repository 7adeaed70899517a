// Waiting in simulated time.
#include "engine/comm/machine/pause.hpp"

#include "engine/sim/machine/rank_time.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <simgrid/s4u.hpp>

namespace dt::comm {
namespace {

// The ranks of a node that sleep until another rank of it has written something.
struct Pollers {
  simgrid::s4u::SemaphorePtr woken = simgrid::s4u::Semaphore::create(0);
  int asleep = 0;
};

Pollers& pollers_of_node()
{
  static std::unordered_map<const simgrid::s4u::Host*, Pollers> pollers;
  return pollers[simgrid::s4u::this_actor::get_host()];
}

} // namespace

void pause_s(double seconds)
{
  if (seconds > 0) sim::spend_s(seconds);
}

// A poll that took no time would never see another rank write. So the rank sleeps until one has: each poll would be an event of
// the simulator. Where the rank's other thread must go on meanwhile, it does poll; each pause is a hundredth of the wait so far,
// so that a wait ends at most 1 % late and costs few polls.
void pause_between_polls(int polls)
{
  if (sim::may_block()) {
    auto& pollers = pollers_of_node();
    ++pollers.asleep;
    return pollers.woken->acquire();
  }
  constexpr double first_s = 100e-9, growth = 1.01, longest_s = 1e-3;
  pause_s(std::min(first_s * std::pow(growth, polls), longest_s));
}

// A rank that is woken may sleep again before the next one is woken, so the number is read once.
void wake_pollers()
{
  auto& pollers = pollers_of_node();
  for (int left = std::exchange(pollers.asleep, 0); left > 0; --left) pollers.woken->release();
}

} // namespace dt::comm
