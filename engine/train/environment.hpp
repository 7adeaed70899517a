// What this program runs on and was made of, for the run's record.
#pragma once

#include "engine/comm/communicator.hpp"

#include <map>
#include <span>
#include <string>
#include <utility>

namespace dt::engine {

// dtengine's version and the build id of the running program.
std::string engine_version();
std::string engine_build();

// As rank 0 sees it: cpu_model, architecture, cores, memory_bytes, kernel, mpi_version, mpi_settings, dnnl_version, compiler,
// build_type, engine_version, engine_build, launcher, node_list; and where there are any, clock_governor, clock_limits_khz,
// modules, git_state (of $DTCTL_GIT_STATE, else the commit of the working folder's repository), slurm_version and slurm_…
// (of SLURM_… variables). Where nodes differ in their processors, memory, kernel, clocks or place in the network, the same
// key with _by_node lists them: "node[1-3]: AMD EPYC; node4: …". The same on rank 0 only; collective.
std::map<std::string, std::string> describe_environment(Communicator& comm);

// "node[1-3,7],login" for {node1, node2, node3, node7, login}: names in the order of their first appearance, each once; only
// numbers without leading zeros, or of equal width, are put together.
std::string compact_hosts(std::span<const std::string> hosts);

// "node[1-2]: a; node3: b" of (host, value) pairs, one a host; empty when all values are equal.
std::string list_by_node(std::span<const std::pair<std::string, std::string>> values);

} // namespace dt::engine
