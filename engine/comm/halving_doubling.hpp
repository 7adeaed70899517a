// `halving-doubling`: reduce-scatter by recursive halving, allgather by recursive doubling (Rabenseifner 2004; Thakur et al.
// 2005), farthest partner first.
#pragma once

#include "engine/comm/schedule.hpp"

namespace dt::engine {

// Any number of ranks without folding: a round splits the ranks into as many groups as the next prime factor of their number says
// (largest factor first, so powers of two halve), and exchanges with the ranks of the same place in the other groups. The volume
// is 2 n (P-1)/P for every P; a prime P makes one round of P-1 direct messages each way.
Schedule halving_doubling_schedule(const Seat& seat);

// The reducing half of it over a group: rank group[place] ends with the sum over the group of owned_stretch(...).
Schedule halving(const std::vector<int>& group, std::size_t place, Interval stretch);
std::size_t halving_rounds(std::size_t ranks);
// What the place-th of so many ranks owns after halving.
Interval owned_stretch(std::size_t ranks, std::size_t place, Interval stretch);

} // namespace dt::engine
