// How long an exchange takes with nothing beside it.
#pragma once

#include "engine/comm/allreduce.hpp"
#include "engine/sync/replica.hpp"

#include <functional>

namespace dt::engine {

// Median seconds of `exchange` on this rank over a few repeats, each from a common start, after one that is not counted. What it
// sends is not counted as traffic. Collective.
double measure_isolated_s(Communicator& comm, const std::function<void()>& exchange);

// The same of sums of these stretches of a buffer of so many floats, one after the other. Collective.
double measure_isolated_sums_s(Communicator& comm, Allreduce& allreduce, std::span<const Stretch> stretches, std::size_t floats);

} // namespace dt::engine
