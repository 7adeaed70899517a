// The shape of a topology, as the cost formulas of the allreduces need it (core/maths/allreduce_cost.hpp).
#pragma once

#include "core/maths/allreduce_cost.hpp"
#include "engine/comm/topology.hpp"

namespace dt::comm {

// Counts ranks, nodes, the ranks of the largest node, and supernodes.
CostShape cost_shape(const Topology& topology);

} // namespace dt::comm
