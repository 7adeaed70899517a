// Compact forms of lists of host names.
#pragma once

#include <span>
#include <string>

namespace dt {

// "node[1-3,7],login" for {node1, node2, node3, node7, login}. Names keep the order of their first appearance, each once. Numbers
// are joined only if they have no leading zeros, or equal width.
std::string compact_hosts(std::span<const std::string> hosts);

} // namespace dt
