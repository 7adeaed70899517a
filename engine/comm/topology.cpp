#include "engine/comm/topology.hpp"

#include "engine/comm/machine/place.hpp"

#include <algorithm>
#include <map>

namespace dt::comm {
namespace {

int count_of(const std::vector<int>& groups) { return groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1; }

} // namespace

int Topology::nodes() const { return count_of(node); }
int Topology::supernodes() const { return count_of(supernode); }

Topology topology_of_hosts(Communicator& comm, std::int64_t nodes_per_supernode)
{
  Topology topology;
  std::map<std::string, int> numbers;
  for (const auto& host : comm.gather_texts(own_place().host)) {
    const int node = numbers.try_emplace(host, static_cast<int>(numbers.size())).first->second;
    topology.node.push_back(node);
    topology.supernode.push_back(nodes_per_supernode > 0 ? static_cast<int>(node / nodes_per_supernode) : 0);
  }
  return topology;
}

} // namespace dt::comm
