// What a run's spec makes of its network, and how much memory there is for it.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/comm/topology.hpp"
#include "engine/data/source.hpp"
#include "engine/nn/network.hpp"

namespace dt::engine {

// The network of one rank, for its micro-batches of so many images like the source's. Without the sums over ranks.
NetworkOptions network_options(const RunSpec& spec, const Source& source, std::int64_t micro_batch, int rank);

// Bytes that this rank may take: what its node has available to it (machine_memory), in equal shares for the node's ranks; 0 where
// the system does not say. Collective: nobody goes on before all have looked.
std::int64_t memory_share(Communicator& comm, const Topology& topology);

// A recipe error when the buffers as large as the weights that the spec's optimizer, strategy and accumulation keep beside the
// network are more than its memory limit leaves.
void require_memory_beside(const RunSpec& spec, const Network& network);

// "0 reorders a step; 1.1 MiB for weights and gradients, 2.0 MiB for activations (3.4 MiB if none shared memory)".
std::string describe(const Network& network);

} // namespace dt::engine
