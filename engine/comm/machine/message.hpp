// The size of messages that suits the machine.
#pragma once

#include <cstddef>

namespace dt::comm {

// How a sum's numbers travel: each rank sends slices of the vector in rounds that it begins in turn (Round::in_turn), or ranks
// pass on slices or the whole vector, of which a chunk can be passed on before the next one arrives.
enum class Travel { slices_in_turn, passed_slices, passed_vector };

// The link whose transfers begin when their receive is posted (ScheduledSum::may_receive). A real machine's messages need none.
struct Pace {
  double bytes_per_s = 0, latency_s = 0; // bytes_per_s 0: no pace
  std::size_t shortest_bytes = 0;        // shorter messages travel before their receive is posted
  double transfer_s(std::size_t bytes) const { return bytes < shortest_bytes ? 0 : static_cast<double>(bytes) / bytes_per_s; }
};

struct MessageLimits {
  std::size_t chunk_length = 1; // the most numbers in one message
  // The most receives of a sum that a rank has posted at the same time, at least 1: enough that a link never waits for the rank,
  // few enough that what has arrived stays in the cache.
  std::size_t posted_receives = 16;
  Pace pace{};
};

// The limits for a sum over vectors of `length` numbers of `ranks` ranks.
MessageLimits usual_limits(std::size_t length, std::size_t ranks, Travel travel);

// The most numbers in one message. MPI counts with int, so longer vectors are sent in pieces.
std::size_t longest_message();

// The tag of a message between two ranks as the machine's MPI library gets it.
int machine_tag(int tag, std::size_t bytes);

// By how much the blocks in which a node sums a long vector may be longer than usual. 1 on a real machine; a simulation takes
// less real time with longer ones.
std::size_t longest_block_growth();

} // namespace dt::comm
