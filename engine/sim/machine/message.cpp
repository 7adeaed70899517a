#include "engine/comm/machine/message.hpp"

#include "engine/sim/machine/simulated_machine.hpp"

#include <algorithm>

namespace dt::comm {

// Up to 8 ranks: messages as on a real machine, but at most 256 for a vector. Beyond, whole slices. The simulation's own time
// grows with the number of messages; the additions overlap with the messages all the same (begin_pass_over_arrival).
std::size_t usual_chunk_length(std::size_t length)
{
  constexpr std::int64_t few_ranks = 8;
  constexpr std::size_t real_length = 15 * 1024, most_messages = 256, whole = std::size_t{1} << 30;
  return sim::simulated_machine().platform.ranks() <= few_ranks ? std::max(real_length, length / most_messages) : whole;
}

} // namespace dt::comm
