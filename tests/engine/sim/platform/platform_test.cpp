// Platforms that cannot be are refused.
#include "engine/sim/platform/platform.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using Catch::Matchers::Contains;

TEST_CASE("a platform that cannot be is refused with the figure that is wrong")
{
  CHECK_NOTHROW(sim::require_possible({}));
  for (const auto& [platform, why] : std::vector<std::pair<sim::Platform, const char*>>{
           {{.nodes = 0}, "number of nodes must be at least 1"},
           {{.ranks_per_node = 0}, "number of ranks per node must be at least 1"},
           {{.nodes = 65536, .ranks_per_node = 65536}, "number of ranks must be at most 65536"},
           {{.nodes = std::int64_t{1} << 62, .ranks_per_node = 4}, "at most 65536"},
           {{.nodes_per_supernode = -1}, "nodes per supernode must be at least 0"},
           {{.memory_bandwidth = 0}, "memory bandwidth must be above 0"},
           {{.message_s = -1}, "time per message must be at least 0"},
           {{.bandwidth = 0}, "bandwidth must be above 0"},
           {{.trunk_share = -1}, "trunk share must be above 0"},
           {{.latency_s = -1}, "latency must be at least 0"}})
    CHECK_THROWS_WITH(sim::require_possible(platform), Contains(why));
}

TEST_CASE("consecutive nodes form supernodes, and the last one may be smaller")
{
  const sim::Platform platform{.nodes = 5, .ranks_per_node = 3, .nodes_per_supernode = 2};
  CHECK(platform.ranks() == 15);
  CHECK(platform.supernodes() == 3);
  CHECK(platform.supernode_of(3) == 1);
  CHECK(sim::Platform{.nodes = 5}.supernodes() == 1);
}
