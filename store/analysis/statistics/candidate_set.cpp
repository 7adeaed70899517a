#include "store/analysis/statistics/candidate_set.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace dt::store {
namespace {

void require_scale(const Candidate& candidate, Scale scale)
{
  for (const double value : candidate.values) {
    const bool is_of_scale = scale == Scale::difference       ? std::isfinite(value)
                             : scale == Scale::time_to_target ? value > 0
                                                              : value > 0 && std::isfinite(value);
    if (!is_of_scale) throw Error(ErrorKind::internal, "Comparison: the scale has no value " + std::to_string(value));
  }
}

bool scatters(const Candidate& candidate)
{
  const auto differs = [&](double value) { return value != candidate.values.front(); };
  return std::any_of(candidate.values.begin(), candidate.values.end(), differs);
}

// Misses are no numbers of a model.
std::vector<Candidate> without_missing(std::span<const Candidate> candidates)
{
  std::vector<Candidate> others(candidates.begin(), candidates.end());
  for (auto& candidate : others)
    if (has_miss(candidate)) candidate.values.clear();
  return others;
}

} // namespace

CandidateSet::CandidateSet(std::span<const Candidate> candidates, Scale scale)
    : candidates_(candidates), scale_(scale), model_(without_missing(candidates), scale)
{
  for (const auto& candidate : candidates) {
    require_scale(candidate, scale);
    has_miss_.push_back(has_miss(candidate));
    is_exact_.push_back(candidate.is_exact && !candidate.values.empty() && !scatters(candidate));
  }
}

bool CandidateSet::needs_ranks(std::size_t a, std::size_t b) const
{
  return scale_ == Scale::time_to_target && (has_miss_[a] || has_miss_[b]);
}

Comparison CandidateSet::compare(std::size_t a, std::size_t b, Rule rule) const
{
  if (scale_ == Scale::time_to_target) rule.better = Better::smaller;
  const auto &own = candidates_[a], &other = candidates_[b];
  if (needs_ranks(a, b)) return compare_times_to_target(own.values, other.values, rule);
  if (are_exact(a, b)) return compare_exact(method(), own.values.front(), other.values.front(), rule);
  const auto test = model_.test(a, b);
  auto comparison = compare_moments(method(), test.design, test.a, test.b, test.within, rule);
  comparison.left_out = test.left_out;
  return comparison;
}

PairP CandidateSet::test(std::size_t a, std::size_t b, Rule rule) const
{
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  if (scale_ == Scale::time_to_target) rule.better = Better::smaller;
  if (candidates_[a].values.empty() || candidates_[b].values.empty()) return {{nothing, nothing}};
  if (needs_ranks(a, b)) {
    const auto comparison = compare(a, b, rule);
    return {{comparison.p, nothing}, comparison.verdict == Verdict::faster};
  }
  if (are_exact(a, b)) {
    const auto verdict = compare(a, b, rule).verdict;
    return {{nothing, nothing}, verdict == Verdict::faster, true, verdict == Verdict::equivalent};
  }
  if (confounding_of(candidates_[a], candidates_[b]) != Confounded::no) return {{nothing, nothing}};
  const auto test = model_.test(a, b);
  const auto& estimate = test.estimate;
  return {p_values_of(estimate, method(), rule.margin, test.within.price),
          (estimate.value > 0) == (rule.better == Better::larger)};
}

Comparison compare_candidates(const Candidate& a, const Candidate& b, Scale scale, Rule rule)
{
  const std::array both{a, b};
  return CandidateSet(both, scale).compare(0, 1, rule);
}

} // namespace dt::store
