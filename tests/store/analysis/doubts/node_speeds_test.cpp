#include "store/analysis/doubts/node_speeds.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;

TEST_CASE("a node is slow if it is below the median by more than nodes scatter and by more than 5 %")
{
  const std::vector<RunOnNode> runs{{"node10", 100}, {"node2", 101}, {"node1", 99}, {"node3", 80}, {"node4", 100}};
  const auto nodes = node_speeds(runs);
  REQUIRE(nodes.size() == 5);
  CHECK(nodes[0].node == "node1");
  CHECK(nodes[4].node == "node10"); // by number
  CHECK(nodes[2].node == "node3");
  CHECK(nodes[2].deviation == Approx(-0.2));
  for (const auto& node : nodes) CHECK(node.is_slow == (node.node == "node3"));

  CHECK_FALSE(node_speeds(std::vector<RunOnNode>{{"a", 100}, {"b", 100}, {"c", 96}, {"d", 100}})[2].is_slow); // 4 %
  CHECK_FALSE(
      node_speeds(std::vector<RunOnNode>{{"a", 100}, {"b", 120}, {"c", 80}, {"d", 110}})[2].is_slow); // the others scatter
  CHECK(node_speeds(std::vector<RunOnNode>{{"a", 100}, {"b", 80}, {"c", 30}})[2].is_slow); // its own slowness is no scatter
  CHECK_FALSE(node_speeds(std::vector<RunOnNode>{{"a", 100}, {"b", 50}})[1].is_slow); // of two, nobody knows which is as usual
}

TEST_CASE("repeats on a node count as their geometric mean, and a node without a result has no speed")
{
  const auto nodes = node_speeds(std::vector<RunOnNode>{{"a", 80}, {"a", 125}, {"b", 100}, {"c", not_measured}});
  REQUIRE(nodes.size() == 3);
  CHECK(nodes[0].runs == 2);
  CHECK(nodes[0].throughput == Approx(100));
  CHECK(nodes[2].runs == 0);
  CHECK(std::isnan(nodes[2].throughput));
  CHECK(std::isnan(nodes[2].deviation));
  CHECK_FALSE(nodes[2].is_slow);
}
