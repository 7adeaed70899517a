#include "engine/comm/machine/message.hpp"

#include "core/spec/simulation_cost.hpp"
#include "engine/sim/machine/simulated_machine.hpp"

#include <algorithm>

namespace dt::comm {
namespace {

constexpr MessageLimits real{.chunk_length = 15 * 1024, .posted_receives = 16};

// The additions of a slice overlap with its transfer, although it is one message (begin_pass_over_arrival). The next receive is
// posted when the last one is processed, and so it can go directly to its destination, as all but a few of the short messages on
// a real machine. If several slices were posted ahead, they would be copied from a buffer: with 9 to 17 ranks the whole vector.
constexpr MessageLimits whole_slices{.chunk_length = std::size_t{1} << 30, .posted_receives = 1};

} // namespace

MessageLimits usual_limits(std::size_t length, Travel travel)
{
  constexpr std::size_t most_short_messages = 256;
  if (!sim::sends_whole_slices()) return {std::max(real.chunk_length, length / most_short_messages), real.posted_receives};
  if (travel == Travel::slices) return whole_slices;
  // Two receives at least: one chunk arrives while the last one is added. No more bytes than on a real machine.
  const auto chunk_length = std::max(real.chunk_length, length / chunks_of_whole_vector);
  return {chunk_length, std::max<std::size_t>(2, real.posted_receives * real.chunk_length / chunk_length)};
}

std::size_t longest_block_growth() { return sim::sends_whole_slices() ? longest_simulated_block_growth : 1; }

} // namespace dt::comm
