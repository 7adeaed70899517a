#include "engine/comm/choice/cost_model.hpp"
#include "core/statistics.hpp"

#include "engine/comm/choice/paired_rounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace dt::comm {
namespace {

// One column for each unknown: α, β, γ.
using Row = std::array<double, 3>;

constexpr int refits = 8;           // each refit takes its weights from the errors of the previous fit
constexpr double usual_error = 0.1; // a larger relative error gets less weight, in inverse proportion
constexpr int most_sweeps = 20'000;
constexpr double settled = 1e-10; // stop at this relative change of an unknown in a sweep

double log2_rounds(int count) { return count < 2 ? 0 : std::ceil(std::log2(count)); }

// The sum of f - 1 over the prime factors f of count.
double factor_messages(int count)
{
  int messages = 0;
  for (int factor = 2; factor * factor <= count; ++factor)
    for (; count % factor == 0; count /= factor) messages += factor - 1;
  return messages + (count > 1 ? count - 1 : 0);
}

double all_but_one(double count) { return (count - 1) / count; }

Row row_of(const CostSample& sample)
{
  const auto bytes = static_cast<double>(sample.bytes);
  return {sample.terms.messages / sample.seconds, bytes * sample.terms.link / sample.seconds,
          bytes * sample.terms.added / sample.seconds};
}

double dot(const Row& a, const Row& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// The weighted sum of squares of (row · x - 1) as a function of x: x · matrix x - 2 x · vector + a constant.
struct Squares {
  std::array<Row, 3> matrix{};
  Row vector{};
};

Squares squares_of(const std::vector<Row>& rows, const std::vector<double>& weights)
{
  Squares squares;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < 3; ++i) {
      squares.vector[i] += weights[r] * rows[r][i];
      for (std::size_t j = 0; j < 3; ++j) squares.matrix[i][j] += weights[r] * rows[r][i] * rows[r][j];
    }
  return squares;
}

// Minimises the squares over x >= 0 by coordinate descent: each unknown in turn takes its best value while the others stay fixed.
// An unknown that no sample depends on stays 0.
Row least_squares(const Squares& squares)
{
  Row x{};
  double change = 1;
  for (int sweep = 0; sweep < most_sweeps && change > settled; ++sweep) {
    change = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      if (squares.matrix[i][i] <= 0) continue;
      const double slope = squares.vector[i] - dot(squares.matrix[i], x);
      const double next = std::max(0.0, x[i] + slope / squares.matrix[i][i]);
      change = std::max(change, std::abs(next - x[i]) / std::max(next, x[i] + std::numeric_limits<double>::min()));
      x[i] = next;
    }
  }
  return x;
}

} // namespace

CostShape cost_shape(const Topology& topology)
{
  std::map<int, int> ranks;
  for (const int node : topology.node) ++ranks[node];
  CostShape shape{
      .ranks = static_cast<int>(topology.node.size()), .nodes = topology.nodes(), .supernodes = topology.supernodes()};
  for (const auto& [node, count] : ranks) shape.ranks_a_node = std::max(shape.ranks_a_node, count);
  return shape;
}

CostTerms cost_terms(std::string_view algorithm, const CostShape& shape)
{
  const bool alone = shape.nodes == 1;
  const int p = shape.ranks, nodes = alone ? p : shape.nodes, in_node = alone ? 1 : shape.ranks_a_node;
  if (p < 2) return {.messages = 0, .link = 0, .added = 0};
  if (algorithm == "ring") return {2.0 * (p - 1), 2 * all_but_one(p), all_but_one(p)};
  if (algorithm == "halving-doubling") return {2 * factor_messages(p), 2 * in_node * all_but_one(nodes), all_but_one(p)};
  if (algorithm == "tree") return {2 * log2_rounds(p), 2 * log2_rounds(nodes), log2_rounds(p)};
  if (algorithm == "topology-aware")
    return {2 * factor_messages(std::max(1, p / shape.supernodes)) + 2 * factor_messages(shape.supernodes),
            2 * in_node * all_but_one(nodes), all_but_one(p)};
  if (algorithm == "hierarchical") {
    const double r = shape.ranks_a_node;
    if (alone) return {2, 2, all_but_one(p)};
    return {2 * factor_messages(nodes) + 2, 2 * all_but_one(nodes), all_but_one(r) + all_but_one(nodes) / r};
  }
  return {2 * log2_rounds(p), 2 * all_but_one(nodes), all_but_one(p)};
}

double cost_s(const CostModel& model, const CostTerms& terms, std::size_t bytes)
{
  return terms.messages * model.alpha_s + static_cast<double>(bytes) * (terms.link * model.beta_s + terms.added * model.gamma_s);
}

CostModel fit_costs(std::span<const CostSample> samples)
{
  std::vector<Row> rows;
  for (const auto& sample : samples) rows.push_back(row_of(sample));
  std::vector<double> weights(rows.size(), 1), errors(rows.size());
  Row x{};
  for (int fit = 0; fit < refits; ++fit) {
    x = least_squares(squares_of(rows, weights));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      errors[r] = std::abs(dot(rows[r], x) - 1);
      weights[r] = 1 / std::max(1.0, errors[r] / usual_error);
    }
  }
  return {.alpha_s = x[0], .beta_s = x[1], .gamma_s = x[2], .spread = median(errors)};
}

std::string in_words(const CostModel& model)
{
  return fmt::format("α {:.3g} µs, β {:.3g} ns/byte ({:.3g} MB/s), γ {:.3g} ns/byte, half of the timings within {:.0f}%",
                     1e6 * model.alpha_s, 1e9 * model.beta_s, 1e-6 * model.link_bytes_per_s(), 1e9 * model.gamma_s,
                     100 * model.spread);
}

} // namespace dt::comm
