// Council: combines the wishes of all ranks, with as little waiting as possible.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/train/loop/overseer.hpp"

#include <array>

namespace dt::train {

// Ranks hand in wishes and read the result then or at a later look. Ranks that hand in and read after the same steps read the
// same result, so they act alike. A rank waits only for ranks that have not handed in yet. If ranks read one look after handing
// in, they can drift apart by the steps between two looks, but not more.
class Council {
 public:
  struct Agreement {
    Overseer::Wish wish;       // the wishes of all ranks combined by `or`
    std::int64_t interval = 1; // steps to the next look, as proposed by rank 0
  };
  explicit Council(comm::Communicator& comm) : comm_(comm) {}
  Council(const Council&) = delete;
  Council& operator=(const Council&) = delete;

  // Hands in this rank's wish, and rank 0's proposal for the interval. Call it once between two calls of read(). Collective: all
  // ranks call it in the same order relative to their other collective calls. Does not block.
  void hand_in(const Overseer::Wish& mine, std::int64_t proposal);
  // The result of the last hand_in(). Blocks until every rank has called it. Before the first hand_in(): no wish.
  Agreement read();

 private:
  comm::Communicator& comm_;
  std::array<double, 5> handed_in_{}, sums_{0, 0, 0, 0, 1};
  comm::Transfer pending_;
};

} // namespace dt::train
