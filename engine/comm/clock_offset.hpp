// How far a rank's clock is ahead of rank 0's, so that the timelines of all ranks can be drawn on one axis.
#pragma once

#include "core/trace_record.hpp"
#include "engine/comm/clock.hpp"
#include "engine/comm/communicator.hpp"

#include <functional>

namespace dt::engine {

// Cristian's method: rank 0 answers a rank's question with its time, and the shortest of many exchanges bounds the error by half
// its duration. The ranks come one after the other, about 64 small messages each; not counted as traffic. Collective.
ClockOffset measure_clock_offset(Communicator& comm, const std::function<double()>& now = monotonic_s);

} // namespace dt::engine
