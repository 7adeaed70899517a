// The formulas of the allreduces against numbers computed by hand; and α, β, γ found again in timings.
#include "core/maths/allreduce_cost.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace dt;

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

} // namespace

TEST_CASE("the formulas of a flat network are those computed by hand")
{
  check_terms("ring", flat(5), {8, 1.6, 0.8});
  check_terms("ring", flat(4), {6, 1.5, 0.75});
  check_terms("gloo", flat(4), {6, 1.5, 0.75});                    // it is a ring
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

TEST_CASE("cost is messages times alpha, and bytes times what the link and the additions take, and no part of a fit is negative")
{
  const CostModel model{.alpha_s = 1e-4, .beta_s = 1e-8, .gamma_s = 1e-9};
  CHECK(cost_s(model, {8, 1.6, 0.8}, 1'000'000) == Approx(8e-4 + 0.016 + 0.0008));
  const std::vector<CostSample> falling{{{2, 1, 0}, 1000, 2.0}, {{2, 1, 0}, 1'000'000, 1.0}};
  const auto fitted = fit_costs(falling);
  CHECK(fitted.alpha_s > 0);
  CHECK(fitted.beta_s >= 0);
  CHECK(fitted.gamma_s == 0);
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

TEST_CASE(
    "a model in words has the unit that fits each figure and no exponent, and its block leaves out what the fit did not find")
{
  CHECK(in_words({.alpha_s = 3.69e-3, .beta_s = 0.526e-9, .gamma_s = 3.29e-25, .spread = 0.08}) ==
        "α 3.69 ms, β 0.526 ns/byte (1.9 GB/s), γ 0 ns/byte, half of the timings within 8 %");
  CHECK(network_block({.alpha_s = 12.5e-3, .beta_s = 8e-9, .gamma_s = 2e-25}) ==
        "network:\n  latency: 12.5ms\n  bandwidth: 125 MB/s\n");
}
