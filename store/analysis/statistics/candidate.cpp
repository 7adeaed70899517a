#include "store/analysis/statistics/candidate.hpp"

#include "store/analysis/statistics/rank_test.hpp"

#include <algorithm>
#include <cmath>

namespace dt::store {
namespace {

// The values, and `more` of them again from the beginning.
std::vector<double> repeated(const std::vector<double>& values, std::size_t more)
{
  auto longer = values;
  for (std::size_t i = 0; i < more; ++i) longer.push_back(values[i % values.size()]);
  return longer;
}

std::vector<Occasion> occasions_of(const Candidate& candidate)
{
  std::vector<Occasion> occasions(candidate.values.size());
  for (std::size_t i = 0; i < occasions.size(); ++i) {
    if (i < candidate.begins_unix_s.size()) occasions[i].begin_unix_s = candidate.begins_unix_s[i];
    if (i < candidate.nodes.size()) occasions[i].nodes = candidate.nodes[i];
    if (i < candidate.blocks.size()) occasions[i].block = candidate.blocks[i];
  }
  return occasions;
}

} // namespace

Confounded confounding_of(const Candidate& a, const Candidate& b) { return confounding_of(occasions_of(a), occasions_of(b)); }

bool has_miss(const Candidate& candidate)
{
  return std::any_of(candidate.values.begin(), candidate.values.end(), [](double value) { return std::isinf(value); });
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
