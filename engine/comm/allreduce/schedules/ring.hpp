// `ring`: reduce-scatter around the ring, then allgather. Bandwidth-optimal, 2(P-1) rounds. [PatarasukYuan2009]
#pragma once

#include "engine/comm/allreduce/schedules/schedule.hpp"

namespace dt::comm {

// Every rank sends 2(P-1) parts of n/P numbers: 2 n (P-1)/P numbers in total.
Schedule ring_schedule(const Seat& seat);

} // namespace dt::comm
