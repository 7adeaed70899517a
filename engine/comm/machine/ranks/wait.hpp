// Waiting for a message while others that this rank has begun complete.
#pragma once

#include "engine/comm/communicator.hpp"

#include <cstddef>

namespace dt::comm {

// Blocks until `awaited` is complete and returns true, or returns false when `send`, a message that this rank has sent, is
// complete first. `send` may be null. A real machine does not look at it. A simulation does: the next message to its receiver may
// begin only then, and the simulator's cost of a message grows with the number of the rank's messages that were never waited for.
bool wait_beside(Transfer& awaited, Transfer* send);

// How many messages of a rank to one receiver may be on their way at the same time. A real connection sends one after another,
// however many are given to it, so there is no limit. Large simulated messages would share the link, and all would arrive late.
std::size_t most_messages_on_the_way();

} // namespace dt::comm
