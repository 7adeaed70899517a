// Waiting for a message while others that this rank has begun complete.
#pragma once

#include "engine/comm/communicator.hpp"

#include <cstddef>
#include <span>

namespace dt::comm {

// Blocks until `awaited` is complete. Returns how many of the first transfers in `earlier` it has found complete meanwhile; the
// caller must not wait for these again. A real machine looks at none of them. The simulator's cost of a message grows with the
// number of the rank's messages that were never waited for, so a simulation looks at them in order.
std::size_t wait_beside(Transfer& awaited, std::span<Transfer> earlier);

} // namespace dt::comm
