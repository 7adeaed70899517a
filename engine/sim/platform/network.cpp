#include "engine/sim/platform/network.hpp"

#include <algorithm>
#include <string>

#include <simgrid/s4u.hpp>

namespace dt::sim {
namespace {

namespace s4u = simgrid::s4u;

// Computation is given in seconds, so a host's speed is never used.
constexpr double any_speed = 1e9;

// A node sends its messages in turn, in the order in which they are ready, as a connection does: if they shared the link, all of
// them would arrive late. What a node receives from several others shares its link.
s4u::Host* add_node(s4u::NetZone& zone, const Platform& platform, std::int64_t node)
{
  const auto number = std::to_string(node);
  auto* host = zone.create_host("node" + number, any_speed);
  auto* link = zone.create_split_duplex_link("link" + number, platform.bandwidth);
  link->set_latency(platform.latency_s / 2);
  link->get_link_up()->set_concurrency_limit(1);
  auto* memory = zone.create_link("memory" + number, platform.memory_bandwidth * static_cast<double>(platform.ranks_per_node));
  zone.add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{link, s4u::LinkInRoute::Direction::UP}}, true);
  zone.add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(memory)}, false);
  return host;
}

void add_trunk(s4u::NetZone& root, s4u::NetZone& zone, const Platform& platform, std::int64_t members)
{
  auto* router = zone.create_router("switch of " + zone.get_name());
  zone.seal();
  const double bandwidth = platform.bandwidth * platform.trunk_share * static_cast<double>(members);
  auto* trunk =
      root.create_split_duplex_link("trunk of " + zone.get_name(), bandwidth)->set_latency(platform.trunk_latency_s / 2);
  root.add_route(zone.get_netpoint(), nullptr, router, nullptr, {{trunk, s4u::LinkInRoute::Direction::UP}}, true);
}

} // namespace

std::vector<s4u::Host*> build_network(const Platform& platform)
{
  std::vector<s4u::Host*> hosts;
  auto* root = s4u::create_star_zone("machine");
  if (platform.supernodes() == 1) {
    for (std::int64_t node = 0; node < platform.nodes; ++node) hosts.push_back(add_node(*root, platform, node));
    root->seal();
    return hosts;
  }
  for (std::int64_t supernode = 0; supernode < platform.supernodes(); ++supernode) {
    auto* zone = s4u::create_star_zone("supernode" + std::to_string(supernode));
    zone->set_parent(root);
    const auto begin = supernode * platform.nodes_per_supernode;
    const auto end = std::min(begin + platform.nodes_per_supernode, platform.nodes);
    for (std::int64_t node = begin; node < end; ++node) hosts.push_back(add_node(*zone, platform, node));
    add_trunk(*root, *zone, platform, end - begin);
  }
  root->seal();
  return hosts;
}

} // namespace dt::sim
