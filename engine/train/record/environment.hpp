// Describes hardware, software and launch of this program, for the run record.
#pragma once

#include "engine/comm/communicator.hpp"

#include <map>
#include <span>
#include <string>
#include <utility>

namespace dt::train {

// Version of dtengine, and build id of the running program.
std::string engine_version();
std::string engine_build();

// The environment of rank 0. Keys: cpu_model, architecture, cores, memory_bytes, kernel, mpi_version, mpi_settings, dnnl_version,
// compiler, build_type, engine_version, engine_build, launcher, node_list. If available also: clock_governor, clock_limits_khz,
// modules, git_state ($DTCTL_GIT_STATE, otherwise the commit of the working folder's repository), slurm_version and other slurm_…
// (from SLURM_… variables). If nodes differ in processor, memory, kernel, clock or place in the network, the key with the suffix
// _by_node lists the values: "node[1-3]: AMD EPYC; node4: …". Complete only on rank 0. Collective.
std::map<std::string, std::string> describe_environment(comm::Communicator& comm);

// "node[1-2]: a; node3: b" for (host, value) pairs, one per host; empty if all values are equal.
std::string list_by_node(std::span<const std::pair<std::string, std::string>> values);

} // namespace dt::train
