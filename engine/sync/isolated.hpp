// How long an exchange takes with nothing beside it.
#pragma once

#include "engine/comm/communicator.hpp"

#include <functional>

namespace dt::engine {

// Median seconds of `exchange` on this rank over a few repeats, each from a common start, after one that is not counted. What it
// sends is not counted as traffic. Collective.
double measure_isolated_s(Communicator& comm, const std::function<void()>& exchange);

} // namespace dt::engine
