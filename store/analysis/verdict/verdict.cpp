#include "store/analysis/verdict/verdict.hpp"

#include "core/counted.hpp"
#include "core/text.hpp"
#include "store/analysis/verdict/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dt::store {
namespace {

std::string size_of_difference(double difference, Metric metric)
{
  return two_digits(difference * 100) + (metric_row(metric).scale == Scale::difference ? " points" : " %");
}

double percent_of(double effect, Metric metric)
{
  return 100 * (metric_row(metric).scale == Scale::difference ? effect : effect - 1);
}

// Whether there are enough runs for an interval or the rank test, or the values are deterministic.
bool is_decidable(const Judged& judged)
{
  return judged.comparison.method == Method::ranks || judged.comparison.has_no_scatter ||
         std::isfinite(judged.comparison.interval.low);
}

// Whether there are enough runs for a verdict, or for saying why there is none.
bool has_enough_runs(const Judged& judged) { return is_decidable(judged) || judged.comparison.has_no_scatter; }

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

std::string node_hours_text(double node_hours)
{
  return std::isfinite(node_hours) ? " (" + two_digits(node_hours) + " node-hours)" : "";
}

std::string resolvable_text(const Judged& judged)
{
  return "; " + resolvable_words(judged.comparison.effect, metric_row(judged.metric).scale, judged.resolvable);
}

std::string what_would_decide(const Judged& judged)
{
  if (judged.between.is_known())
    return "; --against-now runs both again, interleaved, so that the scatter between studies does not count";
  const auto& more = judged.more;
  const bool in_rounds = judged.comparison.design == Design::paired || judged.comparison.design == Design::pooled;
  const auto runs = counted(more.per_side, in_rounds ? "more repeat" : "more run") + (in_rounds ? "" : " of each");
  if (more.decides)
    return "; about " + runs + " would decide, if effect and scatter stay" + node_hours_text(judged.more_node_hours);
  if (more.per_side > 0) return "; take at least " + runs + node_hours_text(judged.more_node_hours);
  return more.known ? "; more repeats alone would hardly decide" : "";
}

// Why no comparison was possible.
std::string missing_text(const Judged& judged)
{
  std::vector<std::string> reasons;
  for (const auto& [side, sample] : {std::pair{"A", &judged.a}, {"B", &judged.b}})
    if (sample->candidate.values.empty())
      reasons.push_back(sample->succeeded == 0 ? "no run of " + std::string(side) + " has succeeded"
                        : metric_row(judged.metric).is_of_training && sample->diverged == sample->succeeded
                            ? "all runs of " + std::string(side) + " diverged"
                        : sample->copies == sample->succeeded
                            ? "the ranks of " + std::string(side) + " do not train together, so they have no " +
                                  std::string(metric_row(judged.metric).words)
                            : "no run of " + std::string(side) + " has a value of " +
                                  std::string(metric_row(judged.metric).words));
  return join(reasons, " and ");
}

// Returns " (A: 1 of 3 runs reached the target, B: …)" if a run missed it.
std::string misses_text(const Judged& judged)
{
  if (judged.comparison.method != Method::ranks) return "";
  return " (A: " + reached_text(judged.a) + ", B: " + reached_text(judged.b) + ")";
}

std::string ranks_text(const Judged& judged)
{
  const auto& c = judged.comparison;
  const auto p = ", p = " + number_text("%.2g", c.p) + " by ranks" + misses_text(judged);
  const std::string what = metric_row(judged.metric).is_speed ? " to the target" : " in samples to the target";
  if (c.verdict != Verdict::cannot_tell) return "A is " + word_of(c.verdict, judged.metric) + what + p;
  if (judged.a.reached + judged.b.reached == 0) return "cannot tell: no run reached the target" + misses_text(judged);
  const auto why = c.smallest_p > 1 - c.rule.level ? "; so few runs cannot decide" : "";
  return "cannot tell" + p + why + what_would_decide(judged);
}

// ", against the mean of 5 other studies of the work, which differ by 2 %: -5 % would be found in 19 % of such cases, …".
std::string gate_text(const Judged& judged)
{
  const auto found = [&](double change) {
    const double share = judged.comparison.rule.better == Better::larger ? 1 - change : 1 / (1 - change);
    return two_digits(100 * power_of(judged.gate, judged.comparison, share)) + " %";
  };
  const auto sign = judged.comparison.rule.better == Better::larger ? "-" : "+";
  return ", against the mean of " + counted(static_cast<std::size_t>(judged.gate.studies), "other study", "other studies") +
         " of the reference's work, which differ by " + two_digits(100 * judged.between.deviation()) + " %: a change of " + sign +
         "5 % would be found in " + found(0.05) + " of such cases, and of " + sign + "10 % in " + found(0.1);
}

// ", with the scatter between 6 studies (1.2 %)", if the interval holds it.
std::string between_text(const Judged& judged)
{
  if (!judged.between.is_known()) return "";
  if (judged.gate.is_known()) return gate_text(judged);
  return ", with the scatter between " + std::to_string(judged.between.studies) + " studies (" +
         two_digits(100 * judged.between.deviation()) + " %)";
}

std::string effect_and_interval(const Judged& judged)
{
  const auto interval = interval_text(judged.comparison, judged.metric);
  return effect_text(judged.comparison.effect, judged.metric) + (interval.empty() ? "" : " " + interval) + " " +
         std::string(metric_row(judged.metric).words) +
         (judged.comparison.design == Design::exact ? " (deterministic, so without an interval)" : "") + between_text(judged);
}

// What the runs alone would show, and why that is no verdict.
std::string limited_text(const Judged& judged)
{
  const auto why = "; " + judged.limit.why + "; " + judged.limit.remedy;
  if (judged.comparison.method == Method::ranks) {
    auto of_runs = judged;
    of_runs.limit = {};
    of_runs.comparison.verdict = judged.of_runs;
    return (judged.of_runs == Verdict::cannot_tell ? "" : word_of(judged) + ": ") + ranks_text(of_runs) + why;
  }
  const auto lead =
      judged.limit.kind == Limit::Kind::one_seed && judged.of_runs != Verdict::cannot_tell
          ? "A is " + word_of(judged.of_runs, judged.metric) + (judged.of_runs == Verdict::equivalent ? " to B: " : " than B: ")
          : std::string();
  return word_of(judged) + (lead.empty() ? ": " : " ") + lead + effect_and_interval(judged) + why;
}

std::string undecided_text(const Judged& judged)
{
  if (judged.comparison.has_no_scatter)
    return "cannot tell: " + effect_and_interval(judged) +
           ", but neither the runs of A nor those of B differ among each other, as figures that are rounded or constant; nothing "
           "is known about their error";
  if (is_decidable(judged)) return "cannot tell: " + effect_and_interval(judged) + what_would_decide(judged);
  return "cannot tell: fewer than 3 runs (" + std::to_string(judged.comparison.runs_a) + " of A, " +
         std::to_string(judged.comparison.runs_b) + " of B)" + resolvable_text(judged) + what_would_decide(judged);
}

Judged limited(Judged judged, const Limit& limit)
{
  if (!limit.is_set()) return judged;
  judged.limit = limit;
  judged.of_runs = judged.comparison.verdict;
  judged.comparison.verdict = Verdict::cannot_tell;
  if (has_enough_runs(judged)) judged.more = {}; // further runs like these would show no more
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
  if (comparison.method == Method::ranks) return limited(std::move(judged), limit_of_ranks());
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

std::string word_of(Verdict verdict, Metric metric)
{
  const bool is_speed = metric_row(metric).is_speed;
  switch (verdict) {
  case Verdict::faster:
    return is_speed ? "faster" : "better";
  case Verdict::slower:
    return is_speed ? "slower" : "worse";
  case Verdict::equivalent:
    return "equivalent";
  case Verdict::cannot_tell:
    break;
  }
  return "cannot tell";
}

bool has_data(const Judged& judged) { return !judged.a.candidate.values.empty() && !judged.b.candidate.values.empty(); }

std::string word_of(const Judged& judged)
{
  if (judged.is_same) return "the same runs";
  if (!has_data(judged)) return "no data";
  if (judged.limit.kind == Limit::Kind::one_seed && has_enough_runs(judged)) return "for this one seed";
  if (judged.limit.kind == Limit::Kind::apart && judged.of_runs != Verdict::cannot_tell)
    return judged.of_runs == Verdict::equivalent ? "alike in these runs" : "different in these runs";
  return word_of(judged.comparison.verdict, judged.metric);
}

std::string effect_text(double effect, Metric metric)
{
  const bool is_difference = metric_row(metric).scale == Scale::difference;
  const bool is_of_a_miss = !is_difference && effect == 0; // a median against one that is infinite
  if (!std::isfinite(effect) || is_of_a_miss) return "";
  return is_difference ? number_text("%+.2f points", percent_of(effect, metric))
                       : number_text("%+.1f %%", percent_of(effect, metric));
}

std::string interval_text(const Comparison& comparison, Metric metric)
{
  const auto& [low, high] = comparison.interval;
  if (!std::isfinite(low) || !std::isfinite(high)) return "";
  const char* format = metric_row(metric).scale == Scale::difference ? "%+.2f" : "%+.1f";
  return "[" + number_text(format, percent_of(low, metric)) + ", " + number_text(format, percent_of(high, metric)) + "]";
}

Judged of_same_runs(Judged judged)
{
  if (!has_data(judged)) return judged;
  judged.is_same = true;
  judged.limit = {};
  judged.more = {};
  judged.comparison.verdict = Verdict::equivalent;
  return judged;
}

std::string sentence_of(const Judged& judged)
{
  if (judged.is_same) return "A and B are the same runs, so nothing has changed";
  if (const auto missing = missing_text(judged); !missing.empty()) return "no data: " + missing;
  if (judged.limit.is_set() && has_enough_runs(judged)) return limited_text(judged);
  if (judged.comparison.method == Method::ranks) return ranks_text(judged);
  const auto word = word_of(judged.comparison.verdict, judged.metric);
  switch (judged.comparison.verdict) {
  case Verdict::cannot_tell:
    return undecided_text(judged);
  case Verdict::equivalent:
    return "A and B are equivalent: " + effect_and_interval(judged) + ", within the margin of " +
           size_of_difference(judged.comparison.rule.margin, judged.metric);
  default:
    return "A is " + word + " than B: " + effect_and_interval(judged);
  }
}

} // namespace dt::store
