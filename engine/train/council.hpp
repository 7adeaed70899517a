// Council: what all ranks wish together, without making them wait for one another where they need not.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/train/overseer.hpp"

#include <array>

namespace dt::engine {

// Wishes are handed in at one moment and read at the same or a later one. Ranks that hand in and read after the same steps read
// the same, so they act alike; a rank waits only for those that have not yet handed in. Reading one look later than handing in,
// ranks may drift apart by the steps between two looks, and no further.
class Council {
public:
  struct Agreement {
    Overseer::Wish wish;       // what any rank wished
    std::int64_t interval = 1; // steps to the next look, as rank 0 proposed
  };
  explicit Council(Communicator& comm) : comm_(comm) {}
  Council(const Council&) = delete;
  Council& operator=(const Council&) = delete;

  // Hands in this rank's wish, and on rank 0 its proposal. Once between two readings. All ranks, in the same order as their
  // other collective calls; does not wait.
  void hand_in(const Overseer::Wish& mine, std::int64_t proposal);
  // What was handed in last; waits until every rank has done so. Before the first time: no wish at all.
  Agreement read();

private:
  Communicator& comm_;
  std::array<double, 5> sums_{0, 0, 0, 0, 1};
  Transfer pending_;
};

} // namespace dt::engine
