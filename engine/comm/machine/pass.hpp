// Passes over vectors in memory, as the machine sees them.
#pragma once

#include <cstddef>

namespace dt::comm {

// Call it before a pass over a vector. `bytes`: what the pass reads and writes in memory; `written`: where it writes. Returns
// false if the pass must be skipped: in a simulation whose vectors have no content. The simulation adds the time of the traffic
// to the rank's clock.
bool begin_pass(const void* written, std::size_t bytes);

// Like begin_pass, for the pass that adds an arrived part of a vector or copies it to its place. Of a part that is larger than a
// message, the pass runs beside the transfer: a simulation adds only the time by which the pass is longer than the transfer.
bool begin_pass_over_arrival(const void* written, std::size_t bytes);

} // namespace dt::comm
