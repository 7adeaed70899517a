// A pass over memory takes the time of its traffic.
#include "engine/comm/machine/pass.hpp"

#include "engine/sim/machine/rank_time.hpp"
#include "engine/sim/machine/simulated_machine.hpp"

#include <algorithm>

namespace dt::comm {

bool begin_pass(const void* written, std::size_t bytes)
{
  sim::spend_memory_traffic(bytes);
  return !sim::is_folded(written);
}

// A simulated message may be a whole slice. On a real machine it would be sent in messages of `piece` bytes, and all but the last
// one would be added while the next one arrives, if the rank was idle then.
bool begin_pass_over_arrival(const void* written, std::size_t bytes)
{
  constexpr std::size_t piece = 3 * 60 * 1024; // bytes of traffic: an addition reads two vectors and writes one
  const auto& platform = sim::simulated_machine().platform;
  if (bytes <= piece) return begin_pass(written, bytes);
  const double transfer_s = static_cast<double>(bytes - piece) / 3 / platform.bandwidth;
  const double saved_s = std::min({sim::idle_s(), transfer_s, static_cast<double>(bytes - piece) / platform.memory_bandwidth});
  sim::spend_s(static_cast<double>(bytes) / platform.memory_bandwidth - saved_s);
  return !sim::is_folded(written);
}

} // namespace dt::comm
