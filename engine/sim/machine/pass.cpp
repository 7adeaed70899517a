// A pass over memory takes the time of its traffic.
#include "engine/comm/machine/pass.hpp"

#include "engine/sim/machine/simulated_machine.hpp"

namespace dt::comm {

bool begin_pass(const void* written, std::size_t bytes)
{
  sim::spend_memory_traffic(bytes);
  return !sim::is_folded(written);
}

} // namespace dt::comm
