// Platforms that cannot be are refused.
#include "core/error.hpp"
#include "engine/sim/platform/platform.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using Catch::Matchers::Contains;

TEST_CASE("a platform that cannot be is refused with the figure that is wrong")
{
  CHECK_NOTHROW(sim::require_possible({}));
  CHECK_THROWS_WITH(sim::require_possible({.nodes = 0}), Contains("number of nodes must be at least 1"));
  CHECK_THROWS_WITH(sim::require_possible({.ranks_per_node = 0}), Contains("number of ranks per node must be at least 1"));
  CHECK_THROWS_WITH(sim::require_possible({.nodes = 65536, .ranks_per_node = 65536}),
                    Contains("number of ranks must be at most 65536"));
  CHECK_THROWS_WITH(sim::require_possible({.nodes = std::int64_t{1} << 62, .ranks_per_node = 4}), Contains("at most 65536"));
  CHECK_THROWS_WITH(sim::require_possible({.nodes_per_supernode = -1}), Contains("nodes per supernode must be at least 0"));
  CHECK_THROWS_WITH(sim::require_possible({.memory_bandwidth = 0}), Contains("memory bandwidth must be above 0"));
  CHECK_THROWS_WITH(sim::require_possible({.message_s = -1}), Contains("time per message must be at least 0"));
  CHECK_THROWS_WITH(sim::require_possible({.bandwidth = 0}), Contains("bandwidth must be above 0"));
  CHECK_THROWS_WITH(sim::require_possible({.trunk_share = -1}), Contains("trunk share must be above 0"));
  CHECK_THROWS_WITH(sim::require_possible({.latency_s = -1}), Contains("latency must be at least 0"));
}

TEST_CASE("consecutive nodes form supernodes, and the last one may be smaller")
{
  const sim::Platform platform{.nodes = 5, .ranks_per_node = 3, .nodes_per_supernode = 2};
  CHECK(platform.ranks() == 15);
  CHECK(platform.supernodes() == 3);
  CHECK(platform.supernode_of(3) == 1);
  CHECK(sim::Platform{.nodes = 5}.supernodes() == 1);
}
