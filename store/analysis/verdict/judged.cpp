#include "store/analysis/verdict/judged.hpp"

#include "store/analysis/statistics/candidate_set.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace dt::store {
namespace {

std::size_t fewest(const Judged& judged) { return std::min(judged.a.candidate.values.size(), judged.b.candidate.values.size()); }

// How many more runs of each would decide. With fewer than `least_runs`, at least those that an interval needs.
MoreRepeats needed(const Judged& judged)
{
  auto more = more_repeats(judged.comparison, judged.a.candidate, judged.b.candidate);
  const auto least = static_cast<std::size_t>(least_runs);
  const bool is_exact = judged.comparison.design == Design::exact;
  if (fewest(judged) < least && !is_exact && judged.comparison.method != Method::ranks && (!more.known || more.decides))
    more.per_side = std::max(more.per_side, least - fewest(judged));
  return more;
}

Judged limited(Judged judged, const Limit& limit)
{
  if (!limit.is_set()) return judged;
  judged.limit = limit;
  judged.of_runs = judged.comparison.verdict;
  judged.comparison.verdict = Verdict::cannot_tell;
  if (is_decidable(judged)) judged.more = {}; // further runs like these would show no more
  return judged;
}

} // namespace

Judged judge(std::string name, Metric metric, Sample a, Sample b, const Rule& rule, const Scatter& scatter)
{
  const auto& row = metric_row(metric);
  Judged judged{.name = std::move(name), .metric = metric, .a = std::move(a), .b = std::move(b)};
  judged.comparison.rule = rule;
  judged.comparison.rule.better = row.better;
  const auto &values_a = judged.a.candidate.values, &values_b = judged.b.candidate.values;
  judged.comparison.runs_a = values_a.size();
  judged.comparison.runs_b = values_b.size();
  if (values_a.empty() || values_b.empty()) return judged;
  judged.comparison = compare_candidates(judged.a.candidate, judged.b.candidate, row.scale, judged.comparison.rule);
  judged.resolvable = is_decidable(judged) ? judged.comparison.resolvable
                                           : resolvable_difference(scatter.cv, scatter.freedom, judged.comparison.a.count,
                                                                   judged.comparison.b.count, level_of_one(rule));
  judged.more = needed(judged);
  judged.more_node_hours = static_cast<double>(judged.more.per_side) * (judged.a.node_hours + judged.b.node_hours);
  return limited(std::move(judged), limit_of_seeds(metric, std::vector<const Sample*>{&judged.a, &judged.b}));
}

Judged across_studies(Judged judged, const Apart& apart)
{
  const auto& comparison = judged.comparison;
  if (!metric_row(judged.metric).is_of_machine || !has_data(judged) || judged.limit.is_set() ||
      comparison.design == Design::exact)
    return judged;
  if (!apart.between.is_known()) return limited(std::move(judged), apart.limit);
  if (comparison.method == Method::ranks) return limited(std::move(judged), {.kind = Limit::Kind::by_ranks});
  judged.gate = apart.gate;
  judged.comparison =
      apart.gate.is_known() ? against_gate(judged.comparison, apart.gate) : across_studies(judged.comparison, apart.between);
  judged.between = apart.between;
  judged.more = {};
  return judged;
}

bool is_regression(const Judged& judged)
{
  if (judged.is_same || judged.limit.is_set()) return false;
  if (judged.comparison.method == Method::ranks) return judged.comparison.verdict == Verdict::slower;
  return is_regression(judged.comparison);
}

bool is_worse_by(const Judged& judged, double share)
{
  const auto& comparison = judged.comparison;
  if (judged.is_same || std::isnan(comparison.effect) || std::isnan(share)) return false;
  const double change = comparison.method == Method::difference ? comparison.effect : comparison.effect - 1;
  return comparison.rule.better == Better::larger ? change < -share : change > share;
}

bool has_data(const Judged& judged) { return !judged.a.candidate.values.empty() && !judged.b.candidate.values.empty(); }

Judged of_same_runs(Judged judged)
{
  if (!has_data(judged)) return judged;
  judged.is_same = true;
  judged.limit = {};
  judged.more = {};
  judged.comparison.verdict = Verdict::equivalent;
  return judged;
}

bool is_decidable(const Judged& judged)
{
  return judged.comparison.method == Method::ranks || judged.comparison.has_no_scatter ||
         std::isfinite(judged.comparison.interval.low);
}

Finding finding_of(Verdict verdict)
{
  switch (verdict) {
  case Verdict::faster:
    return Finding::faster;
  case Verdict::slower:
    return Finding::slower;
  case Verdict::equivalent:
    return Finding::equivalent;
  case Verdict::cannot_tell:
    break;
  }
  return Finding::cannot_tell;
}

Finding finding_of(const Judged& judged)
{
  if (judged.is_same) return Finding::same_runs;
  if (!has_data(judged)) return Finding::no_data;
  if (judged.limit.kind == Limit::Kind::one_seed && is_decidable(judged)) return Finding::for_this_seed;
  if (judged.limit.is_apart() && judged.of_runs != Verdict::cannot_tell)
    return judged.of_runs == Verdict::equivalent ? Finding::alike_in_these_runs : Finding::different_in_these_runs;
  return finding_of(judged.comparison.verdict);
}

NoValue why_no_value(const Sample& sample, Metric metric)
{
  if (!sample.candidate.values.empty()) return NoValue::has_values;
  if (sample.succeeded == 0) return NoValue::none_succeeded;
  if (metric_row(metric).is_of_training && sample.diverged == sample.succeeded) return NoValue::all_diverged;
  return sample.copies == sample.succeeded ? NoValue::copies : NoValue::not_recorded;
}

} // namespace dt::store
