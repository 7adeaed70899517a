// Where the ranks of a communicator run: each tells the others.
#include "core/text.hpp"
#include "engine/comm/placement.hpp"
#include "engine/comm/topology.hpp"

#include <map>

namespace dt::comm {

Topology topology_of_hosts(Communicator& comm, std::int64_t nodes_per_supernode)
{
  std::vector<int> nodes, supernodes;
  std::map<std::string, int> numbers;
  for (const auto& host : comm.gather_texts(own_place().host)) {
    const int node = numbers.try_emplace(host, static_cast<int>(numbers.size())).first->second;
    nodes.push_back(node);
    supernodes.push_back(nodes_per_supernode > 0 ? static_cast<int>(node / nodes_per_supernode) : 0);
  }
  return {std::move(nodes), std::move(supernodes)};
}

std::vector<RankPlace> gather_places(Communicator& comm)
{
  const auto own = own_place();
  const auto hosts = comm.gather_texts(own.host);
  const auto masks = comm.gather_texts(mask_text(own.cores));
  std::vector<RankPlace> places;
  for (std::size_t r = 0; r < hosts.size(); ++r) places.push_back({hosts[r], parse_mask(masks[r])});
  return places;
}

} // namespace dt::comm
