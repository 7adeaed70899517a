// NUMA nodes: the memories of a machine, each nearest to some of its cores.
#pragma once

#include <string>
#include <vector>

namespace dt::comm {

// The NUMA nodes, ascending, that are nearest to these cores. `synthetic`: a made-up machine in hwloc's words, such as
// "numa:2 core:4 pu:1"; empty: this machine. Empty if hwloc does not know the machine, or the engine was built without it.
std::vector<int> numa_nodes_of(const std::vector<int>& cores, const std::string& synthetic = {});

} // namespace dt::comm
