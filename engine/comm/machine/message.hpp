// The size of messages that suits the machine.
#pragma once

#include <cstddef>

namespace dt::comm {

// How a sum's numbers travel: each rank sends a slice of the vector in a round, or ranks pass on the whole vector, of which a
// chunk can be passed on before the next one arrives.
enum class Travel { slices, whole_vector };

struct MessageLimits {
  std::size_t chunk_length = 1; // the most numbers in one message
  // The most receives of a sum that a rank has posted at the same time, at least 1: enough that a link never waits for the rank,
  // few enough that what has arrived stays in the cache.
  std::size_t posted_receives = 16;
};

// The limits for a sum over vectors of `length` numbers.
MessageLimits usual_limits(std::size_t length, Travel travel);

// By how much the blocks in which a node sums a long vector may be longer than usual. 1 on a real machine; a simulation takes
// less real time with longer ones.
std::size_t longest_block_growth();

} // namespace dt::comm
