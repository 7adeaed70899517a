// Network options of a run, and the memory that is available for its network.
#pragma once

#include "engine/comm/communicator.hpp"
#include "engine/comm/topology.hpp"
#include "engine/data/source.hpp"
#include "engine/nn/graph/network.hpp"

namespace dt::train {

// Options of one rank's network, for micro-batches of `micro_batch` images of the source's shape. Excludes the sums over ranks.
nn::NetworkOptions network_options(const RunSpec& spec, const data::Source& source, std::int64_t micro_batch, int rank);

// Bytes that this rank may use: the available memory of its node (machine_memory), divided equally among the node's ranks; 0 if
// the system does not report it. Collective: a barrier ensures that all ranks measure before any rank allocates.
std::int64_t memory_share(comm::Communicator& comm, const comm::Topology& topology);

// Throws a recipe error if the buffers that optimizer, strategy and accumulation keep besides the network (each as large as the
// weights) exceed the rest of the network's memory limit.
void require_memory_beside(const RunSpec& spec, const nn::Network& network);

// "0 reorders a step; 1.1 MiB for weights and gradients, 2.0 MiB for activations (3.4 MiB if none shared memory)".
std::string describe(const nn::Network& network);

} // namespace dt::train
