// NUMA nodes of made-up machines, and of this one.
#include "core/machine/process.hpp"
#include "engine/comm/machine/numa_nodes.hpp"

#include <catch2/catch.hpp>

using namespace dt::comm;

TEST_CASE("the NUMA nodes of cores are those nearest to them")
{
  const std::string two_nodes = "numa:2 core:4 pu:1"; // cores 0 to 3, and 4 to 7
  if (numa_nodes_of({0}, two_nodes).empty()) return;  // built without hwloc
  CHECK(numa_nodes_of({0, 3}, two_nodes) == std::vector{0});
  CHECK(numa_nodes_of({5}, two_nodes) == std::vector{1});
  CHECK(numa_nodes_of({3, 4}, two_nodes) == std::vector{0, 1});
  CHECK(numa_nodes_of({0, 1, 2}, "numa:1 core:4 pu:1") == std::vector{0});
  // Eight packages with two threads a core: processors 0 and 1 are of one core.
  CHECK(numa_nodes_of({0, 1, 31}, "package:8 numa:1 core:2 pu:2") == std::vector{0, 7});
  CHECK_FALSE(numa_nodes_of(dt::cores_in_mask()).empty());
}

TEST_CASE("cores that the machine does not have are near no memory")
{
  CHECK(numa_nodes_of({}).empty());
  CHECK(numa_nodes_of({99}, "numa:2 core:4 pu:1").empty());
  CHECK(numa_nodes_of({0}, "no machine").empty());
}
