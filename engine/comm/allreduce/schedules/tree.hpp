// `tree`: binomial reduction to rank 0, then broadcast from rank 0. Fewest rounds, but rank 0 carries n log2 P numbers in each
// direction.
#pragma once

#include "engine/comm/allreduce/schedules/schedule.hpp"

namespace dt::comm {

// All ranks together send 2(P-1) messages of n numbers, in 2 ceil(log2 P) rounds.
Schedule tree_schedule(const Seat& seat);

} // namespace dt::comm
