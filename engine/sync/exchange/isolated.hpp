// Measures the duration of an exchange with nothing else running.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/sync/replica.hpp"

#include <functional>

namespace dt::sync {

// Median seconds of `exchange` on this rank over the calls that the machine's scatter needs (comm::timing_repeats), each after a
// barrier. The traffic is not counted. Collective.
double measure_isolated_s(comm::Communicator& comm, const std::function<void()>& exchange);

// The same for sums of these ranges of the weights, one after another: in a buffer of its own, or, if the replica's device sums,
// there in the gradients' vector, which has no values of a gradient afterwards. Collective.
double measure_isolated_sums_s(comm::Communicator& comm, comm::Allreduce& allreduce, std::span<const Range> ranges,
                               Replica& replica);

} // namespace dt::sync
