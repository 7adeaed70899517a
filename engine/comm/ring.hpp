// `ring`: reduce-scatter round the ring, and back. Bandwidth-optimal, 2(P-1) rounds (Patarasu and Yuan 2009).
#pragma once

#include "engine/comm/schedule.hpp"

namespace dt::engine {

// Every rank sends 2(P-1) parts of n/P numbers: 2 n (P-1)/P in all.
Schedule ring_schedule(const Seat& seat);

} // namespace dt::engine
