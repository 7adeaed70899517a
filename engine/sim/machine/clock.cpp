// The simulated clock. Reading it takes no time.
#include "engine/comm/machine/clock.hpp"

#include <simgrid/s4u.hpp>

namespace dt::comm {

double monotonic_s() { return simgrid::s4u::Engine::get_clock(); }

} // namespace dt::comm
