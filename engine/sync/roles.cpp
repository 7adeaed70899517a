#include "engine/sync/roles.hpp"

#include "core/error.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::sync {
namespace {

bool contains(const std::vector<int>& ranks, int rank) { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); }

// The last rank of each of the last `servers` nodes.
std::vector<int> spread_servers(const comm::Topology& topology, std::size_t servers)
{
  std::vector<int> last_of_node(static_cast<std::size_t>(topology.nodes()));
  for (std::size_t r = 0; r < topology.node.size(); ++r)
    last_of_node[static_cast<std::size_t>(topology.node[r])] = static_cast<int>(r);
  if (servers > last_of_node.size())
    throw Error(ErrorKind::recipe,
                fmt::format("sync.server_placement: spread puts one server on a node, but there are {} servers "
                            "(sync.servers) on {} nodes. Take fewer servers, or sync.server_placement: last.",
                            servers, last_of_node.size()));
  std::vector<int> chosen(last_of_node.end() - static_cast<std::ptrdiff_t>(servers), last_of_node.end());
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<int> last_servers(int ranks, std::size_t servers)
{
  std::vector<int> chosen;
  for (int rank = ranks - static_cast<int>(servers); rank < ranks; ++rank) chosen.push_back(rank);
  return chosen;
}

} // namespace

Roles make_roles(const SyncSpec& sync, const comm::Topology& topology, int rank)
{
  Roles roles;
  const auto servers = static_cast<std::size_t>(has_servers(sync.strategy) ? sync.servers : 0);
  const int ranks = static_cast<int>(topology.node.size());
  if (servers >= topology.node.size())
    throw Error(
        ErrorKind::recipe,
        fmt::format("{} parameter servers (sync.servers) on {} ranks leave no worker; start more ranks.", servers, ranks));
  roles.servers =
      sync.server_placement == ServerPlacement::spread ? spread_servers(topology, servers) : last_servers(ranks, servers);
  if (contains(roles.servers, 0))
    throw Error(ErrorKind::recipe,
                "sync.server_placement: spread would make rank 0 a server, and rank 0 must train. Start more ranks "
                "a node, or take sync.server_placement: last.");
  for (int r = 0; r < ranks; ++r)
    if (!contains(roles.servers, r)) roles.workers.push_back(r);
  roles.is_server = contains(roles.servers, rank);
  const auto& mine = roles.is_server ? roles.servers : roles.workers;
  roles.index = static_cast<int>(std::find(mine.begin(), mine.end(), rank) - mine.begin());
  return roles;
}

} // namespace dt::sync
