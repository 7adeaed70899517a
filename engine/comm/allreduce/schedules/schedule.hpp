// Schedule: which stretch of the vector a rank sends to which rank, round by round, until every rank has the sum. Nothing here
// communicates: an algorithm is a function of rank, number of ranks and length, so a test can examine all ranks in one process.
#pragma once

#include "core/maths/range.hpp"

#include <cstddef>
#include <vector>

namespace dt::comm {

// Part number `part` when the stretch is cut into `parts` nearly equal parts, in order and without gaps.
Range part_of(Range whole, std::size_t part, std::size_t parts);

struct Message {
  int peer = 0;
  Range stretch;
  // Send the last chunk first, when the receiver needs, or the sender has, the end of the stretch first.
  bool backwards = false;
  bool operator==(const Message&) const = default;
};

enum class Receipt { add, copy }; // a received stretch is added to the receiver's numbers, or replaces them

// Sends and receives that do not depend on one another: no send overlaps a receive, and no copying receive overlaps another
// receive. A message sent in round k is received in round k. Messages between the same two ranks keep their order, and additions
// are made in the order of the receives.
struct Round {
  Receipt receipt = Receipt::add;
  std::vector<Message> sends, receives;
  // Whether this rank sends nothing of the round before it has received everything of the earlier rounds. If rounds have
  // different peers, chunks of two rounds would otherwise share this rank's link while the link of another rank idles.
  bool in_turn = false;
};

using Schedule = std::vector<Round>;

// A rank's number, the number of ranks, and the length of the vector in numbers.
struct Seat {
  int rank = 0, ranks = 1;
  std::size_t length = 0;
};

// Appends the mirror image of a reduction: the rounds in reverse order, where each send becomes a copying receive and each
// receive a send. This turns a reduction to one owner per number into an allreduce: a reduce-scatter gets its allgather, and a
// tree reduction its broadcast.
Schedule there_and_back(Schedule reduction);

// Adds `part` to the schedule so that round k of `part` runs together with round first_round + k. Their stretches must not
// overlap.
void merge_from(Schedule& schedule, std::size_t first_round, Schedule part);

} // namespace dt::comm
