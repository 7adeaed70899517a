// `tree`: binomial reduction to rank 0 and broadcast from it. Fewest rounds, but rank 0 carries n log2 P numbers each way.
#pragma once

#include "engine/comm/schedule.hpp"

namespace dt::engine {

// 2(P-1) messages of n numbers among all ranks together, in 2 ceil(log2 P) rounds.
Schedule tree_schedule(const Seat& seat);

} // namespace dt::engine
