// The cost formulas of core against the schedules, and the shape of a topology.
#include "engine/comm/allreduce/schedules/halving_doubling.hpp"
#include "engine/comm/allreduce/schedules/ring.hpp"
#include "engine/comm/allreduce/schedules/tree.hpp"
#include "engine/comm/choice/cost_shape.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace dt;
using namespace dt::comm;

namespace {

constexpr CostShape flat(int ranks) { return {.ranks = ranks, .nodes = ranks}; }

// Of the rank that sends most, in vectors.
double most_sent(Schedule (*schedule)(const Seat&), int ranks)
{
  constexpr std::size_t length = 2520; // can be cut by 2 to 10
  std::size_t most = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    std::size_t sent = 0;
    for (const auto& round : schedule({rank, ranks, length}))
      for (const auto& message : round.sends) sent += message.stretch.size();
    most = std::max(most, sent);
  }
  return static_cast<double>(most) / length;
}

} // namespace

TEST_CASE("the formulas are the bytes that the schedules send")
{
  for (int ranks = 2; ranks <= 10; ++ranks) {
    CAPTURE(ranks);
    CHECK(cost_terms("ring", flat(ranks)).link == Approx(most_sent(ring_schedule, ranks)).epsilon(0.01));
    CHECK(cost_terms("halving-doubling", flat(ranks)).link == Approx(most_sent(halving_doubling_schedule, ranks)).epsilon(0.01));
    // The root receives one vector a level and sends one: its link carries both.
    CHECK(cost_terms("tree", flat(ranks)).link == Approx(2 * most_sent(tree_schedule, ranks)).epsilon(0.01));
  }
}

TEST_CASE("the shape of a topology counts ranks, nodes, the ranks of the largest node, and supernodes")
{
  CHECK(cost_shape({.node = {0, 0, 1, 1, 1, 2}, .supernode = {0, 0, 0, 0, 0, 1}}) == CostShape{6, 3, 3, 2});
}
