// Where simulated ranks run: the platform says it, and no rank has to ask another.
#include "engine/comm/placement.hpp"
#include "engine/comm/topology.hpp"
#include "engine/sim/machine/simulated_machine.hpp"

#include <map>
#include <string>

namespace dt::comm {
namespace {

std::int64_t node_of(const Communicator& comm, int rank)
{
  return comm.world_rank(rank) / sim::simulated_machine().platform.ranks_per_node;
}

Topology make_topology(const Communicator& comm, std::int64_t nodes_per_supernode)
{
  std::vector<int> nodes, supernodes;
  std::map<std::int64_t, int> numbers;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const int node = numbers.try_emplace(node_of(comm, rank), static_cast<int>(numbers.size())).first->second;
    nodes.push_back(node);
    supernodes.push_back(nodes_per_supernode > 0 ? static_cast<int>(node / nodes_per_supernode) : 0);
  }
  return {std::move(nodes), std::move(supernodes)};
}

} // namespace

// All ranks share the one of the communicator of all ranks, which would else be made and kept P times.
Topology topology_of_hosts(Communicator& comm, std::int64_t nodes_per_supernode)
{
  if (comm.size() != sim::simulated_machine().platform.ranks()) return make_topology(comm, nodes_per_supernode);
  static std::map<std::int64_t, Topology> of_all;
  auto found = of_all.find(nodes_per_supernode);
  if (found == of_all.end()) found = of_all.emplace(nodes_per_supernode, make_topology(comm, nodes_per_supernode)).first;
  return found->second;
}

std::vector<RankPlace> gather_places(Communicator& comm)
{
  const auto own = own_place();
  std::vector<RankPlace> places;
  for (int rank = 0; rank < comm.size(); ++rank) places.push_back({"node" + std::to_string(node_of(comm, rank)), own.cores});
  return places;
}

} // namespace dt::comm
