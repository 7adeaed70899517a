// Compact forms of what differs from node to node.
#include "engine/train/record/environment.hpp"

#include <catch2/catch.hpp>

using dt::train::list_by_node;
using Values = std::vector<std::pair<std::string, std::string>>;

TEST_CASE("equal nodes need no list, and different ones are listed by value in order of appearance")
{
  CHECK(list_by_node(Values{{"n1", "a"}, {"n2", "a"}}).empty());
  CHECK(list_by_node(Values{{"n1", "b"}, {"n2", "a"}, {"n3", "b"}, {"n4", "b"}}) == "n[1,3-4]: b; n2: a");
}
