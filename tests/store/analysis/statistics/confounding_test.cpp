#include "store/analysis/statistics/confounding.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt::store;

namespace {

using Occasions = std::vector<Occasion>;

// A letter for each run, in the order in which they began; those of the side.
Occasions runs_of(char side, const std::string& order, const std::vector<std::string>& nodes = {})
{
  Occasions runs;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != side) continue;
    Occasion run{static_cast<double>(i)};
    if (!nodes.empty()) run.nodes = {nodes[runs.size()]};
    runs.push_back(run);
  }
  return runs;
}

Confounded in_order(const std::string& order) { return confounding_of(runs_of('A', order), runs_of('B', order)); }

Confounded on_nodes(const std::vector<std::string>& a, const std::vector<std::string>& b)
{
  std::string order;
  for (std::size_t i = 0; i < a.size(); ++i) order += "AB";
  return confounding_of(runs_of('A', order, a), runs_of('B', order, b));
}

} // namespace

TEST_CASE("runs in turn are not confounded with the time, and runs one after the other are")
{
  CHECK(in_order("ABBAAB") == Confounded::no);
  CHECK(in_order("ABABAB") == Confounded::no);
  CHECK(in_order("AAABBB") == Confounded::by_time);
  CHECK(in_order("AABBBA") == Confounded::by_time);
  CHECK(in_order("AAAAABABBBBB") == Confounded::by_time); // the last of one and the first of the other changed places
  CHECK(in_order("AB") == Confounded::no);                // of one run each nothing is decided
}

TEST_CASE("runs of common rounds are not confounded, whichever of a round was measured again later")
{
  auto a = runs_of('A', "AAABBB"), b = runs_of('B', "AAABBB");
  for (std::size_t i = 0; i < 3; ++i) a[i].block = b[i].block = "round " + std::to_string(i);
  CHECK(confounding_of(a, b) == Confounded::no);
  a[0].block = a[1].block = "";
  CHECK(confounding_of(a, b) == Confounded::by_time);
}

TEST_CASE("sides on nodes of their own are confounded with the nodes, those that mostly are too, and sizes of a study have nodes "
          "in common")
{
  CHECK(on_nodes({"1", "1", "1"}, {"2", "2", "2"}) == Confounded::by_nodes);
  CHECK(on_nodes({"1", "2", "3"}, {"4", "5", "6"}) == Confounded::by_nodes);
  CHECK(on_nodes({"1", "1", "1", "2"}, {"2", "2", "2", "1"}) == Confounded::no); // half of them
  CHECK(on_nodes({"1", "1", "1", "1", "2"}, {"2", "2", "2", "2", "1"}) == Confounded::by_nodes);
  CHECK(on_nodes({"1", "2", "1", "2"}, {"2", "1", "1", "2"}) == Confounded::no);
  Occasions small, large;
  for (int i = 0; i < 3; ++i) {
    small.push_back({2.0 * i, {"n1"}});
    large.push_back({2.0 * i + 1, {"n1", "n2", "n3", "n4"}});
  }
  CHECK(confounding_of(small, large) == Confounded::no);
  for (auto& run : large) run.nodes.erase("n1");
  CHECK(confounding_of(small, large) == Confounded::by_nodes);
}

TEST_CASE("what is not known of a run is no difference")
{
  auto a = runs_of('A', "AAABBB", {"1", "1", "1"}), b = runs_of('B', "AAABBB", {"2", "2", "2"});
  b[0].nodes.clear();
  b[1].begin_unix_s = std::numeric_limits<double>::quiet_NaN();
  CHECK(confounding_of(a, b) == Confounded::no);
  CHECK(confounding_of({}, b) == Confounded::no);
}
