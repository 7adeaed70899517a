#include "engine/comm/machine/message.hpp"

#include "core/spec/simulation_cost.hpp"
#include "engine/sim/machine/simulated_machine.hpp"

#include <algorithm>

namespace dt::comm {

// The additions of a slice overlap with its transfer, although it is one message (begin_pass_over_arrival).
std::size_t usual_chunk_length(std::size_t length, Travel travel)
{
  constexpr std::size_t real_length = 15 * 1024, most_short_messages = 256, whole = std::size_t{1} << 30;
  if (!sim::sends_whole_slices()) return std::max(real_length, length / most_short_messages);
  return travel == Travel::slices ? whole : std::max(real_length, length / chunks_of_whole_vector);
}

} // namespace dt::comm
