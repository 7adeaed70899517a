#include "engine/sim/platform/platform.hpp"

#include "core/error.hpp"
#include "core/spec/simulation_cost.hpp"

#include <cmath>
#include <string>

#include <fmt/format.h>

namespace dt::sim {
namespace {

void require(bool possible, const std::string& figure, const std::string& must)
{
  if (!possible) throw Error(ErrorKind::usage, fmt::format("The platform's {} must be {}.", figure, must));
}

} // namespace

Platform platform_of(const RunSpec& spec)
{
  const auto& figures = spec.platform;
  return {.nodes = spec.resources.nodes,
          .ranks_per_node = spec.resources.ranks_per_node,
          .cores_per_rank = spec.cores_per_rank(),
          .bandwidth = figures.bandwidth,
          .latency_s = figures.latency_s,
          .nodes_per_supernode = figures.nodes_per_supernode,
          .trunk_share = figures.trunk_share,
          .trunk_latency_s = figures.trunk_latency_s,
          .memory_bandwidth = figures.memory_bandwidth,
          .message_s = figures.message_time_s};
}

void require_possible(const Platform& platform)
{
  require(platform.nodes >= 1, "number of nodes", "at least 1");
  require(platform.ranks_per_node >= 1, "number of ranks per node", "at least 1");
  require(platform.ranks_per_node <= most_simulated_ranks / platform.nodes, "number of ranks",
          fmt::format("at most {}", most_simulated_ranks));
  require(platform.nodes_per_supernode >= 0, "number of nodes per supernode", "at least 0");
  require(platform.bandwidth > 0 && std::isfinite(platform.bandwidth), "bandwidth", "above 0");
  require(platform.memory_bandwidth > 0 && std::isfinite(platform.memory_bandwidth), "memory bandwidth", "above 0");
  require(platform.trunk_share > 0 && std::isfinite(platform.trunk_share), "trunk share", "above 0");
  require(platform.latency_s >= 0 && platform.trunk_latency_s >= 0, "latency", "at least 0");
  require(platform.message_s >= 0, "time per message", "at least 0");
}

} // namespace dt::sim
