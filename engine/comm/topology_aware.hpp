// `topology-aware`: halving-doubling whose large messages stay inside a supernode (Fang et al., swCaffe, CLUSTER 2018).
#pragma once

#include "engine/comm/schedule.hpp"
#include "engine/comm/topology.hpp"

namespace dt::engine {

// The paper renumbers ranks: logical = (physical mod q) s + physical div q, with q ranks in each of s supernodes, and pairs the
// farthest first. So the first log2 q rounds, with messages of n/2, n/4, …, pair ranks of one supernode, and only the rest of n/q
// goes between supernodes: n (s-1)/p numbers a rank and phase cross instead of n (p-q)/p.
//
// Here the two parts are made as such, which gives the same messages and goes on where the formula stops. Within each supernode
// halving over its own ranks, whatever their number; then, for every stretch that has one owner in each supernode, halving over
// these owners. Supernodes of different sizes cut the vector differently: the stretches are then the pieces between all cuts, and
// a rank takes part in those that it owns. Every supernode sends 2 n (s-1)/s numbers in all, the least there can be. One
// supernode, or an unknown topology, makes it halving-doubling.
Schedule topology_aware_schedule(const Seat& seat, const Topology& topology);

} // namespace dt::engine
