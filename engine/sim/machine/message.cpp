#include "engine/comm/machine/message.hpp"

#include "engine/sim/machine/simulated_machine.hpp"

namespace dt::comm {

// Up to 16 ranks: as on a real machine. Beyond, whole slices, because the simulation's own time grows with the number of
// messages. These do not overlap with each other, nor with the additions.
std::size_t usual_chunk_length()
{
  constexpr std::int64_t many_ranks = 16;
  return sim::simulated_machine().platform.ranks() <= many_ranks ? 15 * 1024 : std::size_t{1} << 30;
}

} // namespace dt::comm
