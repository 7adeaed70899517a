// The simulated clock. Reading it takes no time.
#include "engine/comm/machine/clock.hpp"

#include "engine/sim/machine/rank_time.hpp"

namespace dt::comm {

double monotonic_s() { return sim::thread_clock_s(); }

} // namespace dt::comm
