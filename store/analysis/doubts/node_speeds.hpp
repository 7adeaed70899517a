// The speeds of nodes on each of which the same run took place alone (dtctl sweep --distribute). Pure functions over numbers.
#pragma once

#include "core/record/field.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// A run on a node. Without a throughput it has failed or has not ended.
struct RunOnNode {
  std::string node;
  double throughput = not_measured; // samples/s
};

struct NodeSpeed {
  std::string node;
  std::size_t runs = 0;             // that have a throughput
  double throughput = not_measured; // samples/s, geometric mean of its runs
  double deviation = not_measured;  // from the median of the other nodes, as a share of it: -0.2 is 20 % slower
  bool is_slow = false;
};

// One entry for each node, in the natural order of the names. A node is slow if it is below the median of the others by more than
// 5 % and by more than three robust standard deviations of the others (tolerance_of in contamination.hpp). Of fewer than
// `least_alike` nodes with a throughput none is.
std::vector<NodeSpeed> node_speeds(std::span<const RunOnNode> runs);

} // namespace dt::store
