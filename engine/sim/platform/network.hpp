// Builds the network of a platform in the simulator.
#pragma once

#include "engine/sim/platform/platform.hpp"

#include <vector>

#include <simgrid/forward.h>

namespace dt::sim {

// Makes hosts and links in the current engine, which must be new. Returns the host of each node.
std::vector<simgrid::s4u::Host*> build_network(const Platform& platform);

} // namespace dt::sim
