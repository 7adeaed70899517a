#include "engine/comm/choice/cost_shape.hpp"

#include <algorithm>
#include <map>

namespace dt::comm {

CostShape cost_shape(const Topology& topology)
{
  std::map<int, int> ranks;
  for (const int node : topology.node) ++ranks[node];
  CostShape shape{
      .ranks = static_cast<int>(topology.node.size()), .nodes = topology.nodes(), .supernodes = topology.supernodes()};
  for (const auto& [node, count] : ranks) shape.ranks_a_node = std::max(shape.ranks_a_node, count);
  return shape;
}

} // namespace dt::comm
