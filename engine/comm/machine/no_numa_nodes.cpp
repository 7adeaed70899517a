#include "engine/comm/machine/numa_nodes.hpp"

namespace dt::comm {

std::vector<int> numa_nodes_of(const std::vector<int>&, const std::string&) { return {}; }

} // namespace dt::comm
