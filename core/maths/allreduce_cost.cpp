#include "core/maths/allreduce_cost.hpp"

#include "core/maths/nonnegative_fit.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace dt {
namespace {

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

std::array<double, 3> row_of(const CostSample& sample)
{
  const auto bytes = static_cast<double>(sample.bytes);
  return {sample.terms.messages, bytes * sample.terms.link, bytes * sample.terms.added};
}

} // namespace

CostTerms cost_terms(std::string_view algorithm, const CostShape& shape)
{
  const bool alone = shape.nodes == 1;
  const int p = shape.ranks, nodes = alone ? p : shape.nodes, in_node = alone ? 1 : shape.ranks_a_node;
  if (p < 2) return {.messages = 0, .link = 0, .added = 0};
  if (algorithm == "ring" || algorithm == "gloo") return {2.0 * (p - 1), 2 * all_but_one(p), all_but_one(p)};
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
  std::vector<FitSample> rows;
  for (const auto& sample : samples) rows.push_back({row_of(sample), sample.seconds});
  const auto fit = fit_nonnegative(rows);
  return {.alpha_s = fit.unknowns[0], .beta_s = fit.unknowns[1], .gamma_s = fit.unknowns[2], .spread = fit.spread};
}

std::string network_block(const CostModel& model)
{
  constexpr double ms = 1e-3, us = 1e-6;
  std::string text = "network:\n  latency: ";
  text += model.alpha_s < ms ? fmt::format("{:.4g}us\n", model.alpha_s / us) : fmt::format("{:.4g}ms\n", model.alpha_s / ms);
  if (model.beta_s > 0) text += fmt::format("  bandwidth: {:.4g} MB/s\n", 1e-6 / model.beta_s);
  constexpr double least_gamma_s = 1e-14; // a fit that found no additions gives less than that, not exactly 0
  if (model.gamma_s > least_gamma_s) text += fmt::format("  reduce: {:.4g} MB/s\n", 1e-6 / model.gamma_s);
  return text;
}

std::string in_words(const CostModel& model)
{
  return fmt::format("α {}, β {} ({}), γ {}, half of the timings within {:.0f} %", format_seconds(model.alpha_s),
                     format_per_byte(model.beta_s), format_rate(model.link_bytes_per_s()), format_per_byte(model.gamma_s),
                     100 * model.spread);
}

} // namespace dt
