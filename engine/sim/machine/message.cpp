#include "engine/comm/machine/message.hpp"

#include "engine/sim/machine/simulated_machine.hpp"

#include <algorithm>

namespace dt::comm {

// Up to 8 ranks: messages as on a real machine, but at most 256 for a vector. Beyond, whole slices, or a
// 64th of a vector that is passed on as a whole. The simulation's own time grows with the number of messages; the additions of a
// slice overlap with its transfer all the same (begin_pass_over_arrival).
std::size_t usual_chunk_length(std::size_t length, Travel travel)
{
  constexpr std::int64_t few_ranks = 8;
  constexpr std::size_t real_length = 15 * 1024, most_messages = 256, messages_of_many = 64, whole = std::size_t{1} << 30;
  if (sim::simulated_machine().platform.ranks() <= few_ranks) return std::max(real_length, length / most_messages);
  return travel == Travel::slices ? whole : std::max(real_length, length / messages_of_many);
}

} // namespace dt::comm
