// Schedule: which stretch of a vector a rank sends to whom, round by round, so that in the end every rank has the sum over ranks.
// Nothing here communicates: an algorithm is a function of rank, ranks and length, and all ranks can be looked at in one process.
#pragma once

#include <cstddef>
#include <vector>

namespace dt::engine {

// Numbers [begin, end) of the vector.
struct Interval {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  bool operator==(const Interval&) const = default;
};

// The part-th of `parts` nearly equal parts of the stretch, in order and without gaps.
Interval part_of(Interval whole, std::size_t part, std::size_t parts);

struct Message {
  int peer = 0;
  Interval stretch;
  // When it travels in chunks, the last goes first: what the receiver needs first, or the sender has first, lies at the end.
  bool backwards = false;
  bool operator==(const Message&) const = default;
};

enum class Receipt { add, copy }; // what is received is added to the receiver's numbers, or replaces them

// Sends and receives that do not depend on one another: no send overlaps a receive, nor a receive that copies another one. What
// is sent in round k is received in round k, messages between the same two ranks in the same order. Receives add in their order.
struct Round {
  Receipt receipt = Receipt::add;
  std::vector<Message> sends, receives;
};

using Schedule = std::vector<Round>;

// One rank's vector length (in numbers) and place.
struct Seat {
  int rank = 0, ranks = 1;
  std::size_t length = 0;
};

// Adding rounds, and after them their mirror image, which carries the sums back on the ways that the parts came: the rounds in
// reverse order, every send a receive that copies and every receive a send. A reduction to one owner of each number becomes an
// allreduce: reduce-scatter gets its allgather, a tree's reduction its broadcast.
Schedule there_and_back(Schedule reduction);

// Rounds of both run side by side: round k of one with round k of the other. The stretches of the two must not overlap.
void merge_from(Schedule& schedule, std::size_t first_round, Schedule part);

} // namespace dt::engine
