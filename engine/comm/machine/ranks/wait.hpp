// Waiting for a message while others that this rank has begun complete.
#pragma once

#include "engine/comm/communicator.hpp"

namespace dt::comm {

// Blocks until `awaited` is complete and returns true, or returns false when `send`, a message that this rank has sent, is
// complete first. `send` may be null. A real machine does not look at it. A simulation does: the simulator's cost of a message
// grows with the number of the rank's messages that were never waited for.
bool wait_beside(Transfer& awaited, Transfer* send);

// Sleeps until monotonic_s() is `end_s`. Like every wait for a message, a simulation does not count it as work.
void wait_until_s(double end_s);

} // namespace dt::comm
