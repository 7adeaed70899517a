// The formulas of the allreduces against numbers computed by hand, and against the schedules; and α, β, γ found again in timings.
#include "engine/comm/allreduce/schedules/halving_doubling.hpp"
#include "engine/comm/allreduce/schedules/ring.hpp"
#include "engine/comm/allreduce/schedules/topology_aware.hpp"
#include "engine/comm/allreduce/schedules/tree.hpp"
#include "engine/comm/choice/cost_model.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace dt;
using namespace dt::comm;

namespace {

constexpr CostShape flat(int ranks) { return {.ranks = ranks, .nodes = ranks}; }

void check_terms(const char* algorithm, const CostShape& shape, const CostTerms& expected)
{
  CAPTURE(algorithm, shape.ranks, shape.nodes, shape.supernodes);
  const auto terms = cost_terms(algorithm, shape);
  CHECK(terms.messages == Approx(expected.messages));
  CHECK(terms.link == Approx(expected.link));
  CHECK(terms.added == Approx(expected.added));
}

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

TEST_CASE("the formulas of a flat network are those computed by hand")
{
  check_terms("ring", flat(5), {8, 1.6, 0.8});
  check_terms("ring", flat(4), {6, 1.5, 0.75});
  check_terms("halving-doubling", flat(8), {6, 1.75, 0.875});      // 2 · 3 rounds
  check_terms("halving-doubling", flat(6), {6, 5.0 / 3, 5.0 / 6}); // 3 ways, 2 messages; then 2 ways, 1
  check_terms("halving-doubling", flat(7), {12, 12.0 / 7, 6.0 / 7});
  check_terms("tree", flat(4), {4, 4, 2});
  check_terms("tree", flat(5), {6, 6, 3});
  check_terms("mpi", flat(5), {6, 1.6, 0.8});
}

TEST_CASE("the formulas of nodes and supernodes are those computed by hand")
{
  const CostShape pairs{.ranks = 8, .nodes = 4, .ranks_a_node = 2};
  check_terms("ring", pairs, {14, 1.75, 0.875});         // one neighbour is on another node
  check_terms("halving-doubling", pairs, {6, 3, 0.875}); // both ranks' parts cross the link
  check_terms("tree", pairs, {6, 4, 3});
  check_terms("hierarchical", pairs, {6, 1.5, 0.875}); // 1/2 in the node, 3/4 · 1/2 over the nodes
  const CostShape trunks{.ranks = 6, .nodes = 6, .ranks_a_node = 1, .supernodes = 2};
  check_terms("topology-aware", trunks, {6, 5.0 / 3, 5.0 / 6}); // 3 in a supernode, 2 messages; over two, 1
  const CostShape one_node{.ranks = 4, .nodes = 1, .ranks_a_node = 4};
  check_terms("hierarchical", one_node, {2, 2, 0.75});
  check_terms("ring", one_node, {6, 1.5, 0.75});
  check_terms("ring", flat(1), {0, 0, 0});
}

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

TEST_CASE("cost is messages times alpha, and bytes times what the link and the additions take")
{
  const CostModel model{.alpha_s = 1e-4, .beta_s = 1e-8, .gamma_s = 1e-9};
  CHECK(cost_s(model, {8, 1.6, 0.8}, 1'000'000) == Approx(8e-4 + 0.016 + 0.0008));
}

TEST_CASE("the fit finds alpha, beta and gamma again in noisy timings, some of which are far off")
{
  constexpr CostModel truth{.alpha_s = 80e-6, .beta_s = 8e-9, .gamma_s = 0.3e-9};
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> noise(0.95, 1.05);
  std::vector<CostSample> samples{{{0, 0, 1}, 1 << 18, truth.gamma_s * (1 << 18)}};
  for (const auto* name : {"ring", "halving-doubling", "tree"})
    for (std::size_t bytes = 1 << 10; bytes <= 16 << 20; bytes *= 4) {
      const auto terms = cost_terms(name, flat(5));
      samples.push_back({terms, bytes, noise(generator) * cost_s(truth, terms, bytes)});
    }
  samples[5].seconds *= 20;
  samples[12].seconds *= 8;
  const auto model = fit_costs(samples);
  CHECK(model.alpha_s == Approx(truth.alpha_s).epsilon(0.1));
  CHECK(model.beta_s == Approx(truth.beta_s).epsilon(0.1));
  CHECK(model.gamma_s == Approx(truth.gamma_s).epsilon(0.1));
  CHECK(model.spread < 0.06);
  CHECK(model.link_bytes_per_s() == Approx(125e6).epsilon(0.1));
}

TEST_CASE("no part of the fit is negative, and what no sample knows of is zero")
{
  const std::vector<CostSample> falling{{{2, 1, 0}, 1000, 2.0}, {{2, 1, 0}, 1'000'000, 1.0}};
  const auto model = fit_costs(falling);
  CHECK(model.alpha_s > 0);
  CHECK(model.beta_s >= 0);
  CHECK(model.gamma_s == 0);
}

TEST_CASE("the shape of a topology counts ranks, nodes, the ranks of the largest node, and supernodes")
{
  CHECK(cost_shape({.node = {0, 0, 1, 1, 1, 2}, .supernode = {0, 0, 0, 0, 0, 1}}) == CostShape{6, 3, 3, 2});
}
