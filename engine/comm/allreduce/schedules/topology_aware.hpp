// `topology-aware`: halving-doubling whose large messages stay inside a supernode. [Fang2018]
#pragma once

#include "engine/comm/allreduce/schedules/schedule.hpp"
#include "engine/comm/topology.hpp"

namespace dt::comm {

// The paper renumbers the ranks: logical = (physical mod q) s + physical div q, with q ranks in each of s supernodes, and pairs
// the farthest ranks first. The first log2 q rounds, with messages of n/2, n/4, …, then stay inside a supernode, and only the
// last n/q numbers cross supernodes: n (s-1)/p numbers per rank and phase instead of n (p-q)/p.
//
// Here both parts are built explicitly. This gives the same messages and also works where the formula does not apply. First,
// halving over the ranks of each supernode, for any number of ranks. Then, for every stretch that has one owner in each
// supernode, halving over these owners. Supernodes of different sizes cut the vector differently: the stretches are then the
// pieces between all cuts, and a rank takes part in the pieces that it owns. Every supernode sends 2 n (s-1)/s numbers in total,
// which is the minimum. With one supernode, or an unknown topology, the schedule is halving-doubling.
Schedule topology_aware_schedule(const Seat& seat, const Topology& topology);

} // namespace dt::comm
