// Checks that a network fits into memory before anything is allocated.
#pragma once

#include "engine/nn/graph/layer_graph.hpp"
#include "engine/nn/graph/network.hpp"

namespace dt::nn {

// A lower bound of the memory need, from the shapes of the layers alone: input and output of one layer exist at the same time.
// For batches that are too large to be planned.
MemoryNeed least_need(const LayerGraph& graph, const NetworkOptions& options);

// Throws a recipe error if `need` exceeds options.memory_limit_bytes. The error names need, limit and approximately the largest
// batch that fits.
void require_memory(const NetworkOptions& options, const MemoryNeed& need);

} // namespace dt::nn
