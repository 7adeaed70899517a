#include "store/analysis/verdict/candidate.hpp"

#include "store/analysis/statistics/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace dt::store {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool has_miss(const Candidate& candidate)
{
  return std::any_of(candidate.values.begin(), candidate.values.end(), [](double value) { return std::isinf(value); });
}

// The geometric mean of the runs of each block. Nothing if a run is in no block.
std::optional<std::map<std::string, double>> means_by_block(const Candidate& candidate)
{
  std::map<std::string, std::vector<double>> values;
  for (std::size_t i = 0; i < candidate.values.size(); ++i) {
    if (i >= candidate.blocks.size() || candidate.blocks[i].empty()) return std::nullopt;
    values[candidate.blocks[i]].push_back(candidate.values[i]);
  }
  std::map<std::string, double> means;
  for (const auto& [block, of_block] : values) means[block] = std::exp(log_moments(of_block).mean);
  return means;
}

// The values of A and B by block, NaN where a block has none.
struct Pairs {
  std::vector<double> a, b;
  std::size_t whole = 0; // blocks with both
};

std::optional<Pairs> pairs_of(const Candidate& a, const Candidate& b)
{
  const auto means_a = means_by_block(a), means_b = means_by_block(b);
  if (!means_a || !means_b) return std::nullopt;
  std::map<std::string, std::pair<double, double>> blocks;
  for (const auto& [block, mean] : *means_a) blocks[block] = {mean, nan};
  for (const auto& [block, mean] : *means_b) blocks.try_emplace(block, nan, nan).first->second.second = mean;
  Pairs pairs;
  for (const auto& [block, both] : blocks) {
    pairs.a.push_back(both.first);
    pairs.b.push_back(both.second);
    if (!std::isnan(both.first) && !std::isnan(both.second)) ++pairs.whole;
  }
  return pairs;
}

// The values, and `more` of them again from the beginning.
std::vector<double> repeated(const std::vector<double>& values, std::size_t more)
{
  auto longer = values;
  for (std::size_t i = 0; i < more; ++i) longer.push_back(values[i % values.size()]);
  return longer;
}

} // namespace

Comparison compare_candidates(const Candidate& a, const Candidate& b, Scale scale, Rule rule)
{
  if (scale == Scale::difference) return compare_means(a.values, b.values, rule);
  if (scale == Scale::time_to_target) {
    rule.better = Better::smaller;
    if (has_miss(a) || has_miss(b)) return compare_times_to_target(a.values, b.values, rule);
  }
  const auto pairs = pairs_of(a, b);
  if (pairs && static_cast<double>(pairs->whole) >= least_runs) return compare_paired(pairs->a, pairs->b, rule);
  return compare_ratio(a.values, b.values, rule);
}

std::size_t common_blocks(const Candidate& a, const Candidate& b)
{
  const auto pairs = pairs_of(a, b);
  return pairs ? pairs->whole : 0;
}

double centre_of(const Candidate& candidate, Scale scale)
{
  if (scale == Scale::difference) return moments_of(candidate.values).mean;
  if (scale == Scale::time_to_target && has_miss(candidate)) return median_with_misses(candidate.values);
  return std::exp(log_moments(candidate.values).mean);
}

MoreRepeats more_repeats(const Comparison& comparison, const Candidate& a, const Candidate& b)
{
  if (comparison.method != Method::ranks || comparison.verdict != Verdict::cannot_tell) return more_repeats(comparison);
  if (a.values.empty() || b.values.empty()) return {};
  constexpr std::size_t most = 20;
  for (std::size_t more = 1; more <= most; ++more) {
    const auto next = compare_times_to_target(repeated(a.values, more), repeated(b.values, more), comparison.rule);
    if (next.verdict != Verdict::cannot_tell) return {.known = true, .decides = true, .per_side = more};
  }
  return {.known = true};
}

Scatter pooled_scatter(std::span<const Candidate> candidates, Scale scale)
{
  double squares = 0, freedom = 0;
  for (const auto& candidate : candidates) {
    auto values = candidate.values;
    std::erase_if(values, [](double value) { return std::isinf(value); });
    if (values.size() < 2) continue;
    const auto moments = scale == Scale::difference ? moments_of(values) : log_moments(values);
    squares += moments.variance * (moments.count - 1);
    freedom += moments.count - 1;
  }
  return freedom > 0 ? Scatter{std::sqrt(squares / freedom), freedom} : Scatter{};
}

} // namespace dt::store
