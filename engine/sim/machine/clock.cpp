// The simulated clock. Reading it takes no time.
#include "engine/comm/machine/clock.hpp"

#include "engine/sim/machine/rank_time.hpp"

namespace dt::comm {

double monotonic_s() { return sim::thread_clock_s(); }

TimingRepeats timing_repeats() { return {.warm_up = 0, .timed = 1}; }

} // namespace dt::comm
