// Refuses what does not fit into memory, before any of it is taken.
#pragma once

#include "engine/nn/model.hpp"
#include "engine/nn/network.hpp"

namespace dt::engine {

// A lower bound of it, from the description alone: the input and output of one layer are there at the same time. For batches that are too
// large to be planned.
MemoryNeed least_need(const Model& model, const NetworkOptions& options);

// A recipe error that names the need, what there is and about the largest batch that fits, when more is needed than
// options.memory_limit_bytes.
void require_memory(const NetworkOptions& options, const MemoryNeed& need);

} // namespace dt::engine
