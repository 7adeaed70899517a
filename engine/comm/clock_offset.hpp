// Offset of a rank's clock against rank 0's clock, to draw the timelines of all ranks on one axis.
#pragma once

#include "core/record/attempt/trace_record.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/comm/machine/clock.hpp"

#include <functional>

namespace dt::comm {

// Cristian's method: rank 0 answers each request with its time. The shortest of the exchanges gives the offset, with an error of
// at most half its duration. Each rank in turn exchanges about 64 small messages with rank 0. The traffic is not counted.
// Collective.
ClockOffset measure_clock_offset(Communicator& comm, const std::function<double()>& now = monotonic_s);

} // namespace dt::comm
