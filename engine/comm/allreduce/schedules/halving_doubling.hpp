// `halving-doubling`: reduce-scatter by recursive halving, then allgather by recursive doubling, farthest partner first.
// [Rabenseifner2004] [Thakur2005]
#pragma once

#include "engine/comm/allreduce/schedules/schedule.hpp"

namespace dt::comm {

// Works for any number of ranks, without folding. In each round the ranks split into f groups, where f is the largest prime
// factor of the number of ranks that still share a stretch (2 for powers of two). Each rank exchanges with the ranks at the same
// place of the other groups. The volume per rank is 2 n (P-1)/P for every P; a prime P takes one round of P-1 direct messages in
// each direction.
Schedule halving_doubling_schedule(const Seat& seat);

// The reduce-scatter half over a group of ranks: rank group[place] ends with the group's sum of owned_stretch(...).
Schedule halving(const std::vector<int>& group, std::size_t place, Range stretch);
std::size_t halving_rounds(std::size_t ranks);
// The stretch that the rank at `place` owns after halving over `ranks` ranks.
Range owned_stretch(std::size_t ranks, std::size_t place, Range stretch);

} // namespace dt::comm
