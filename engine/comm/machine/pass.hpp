// Passes over vectors in memory, as the machine sees them.
#pragma once

#include <cstddef>

namespace dt::comm {

// Call it before a pass over a vector. `bytes`: what the pass reads and writes in memory; `written`: where it writes. Returns
// false if the pass must be skipped: in a simulation whose vectors have no content. The simulation adds the time of the traffic
// to the rank's clock.
bool begin_pass(const void* written, std::size_t bytes);

} // namespace dt::comm
