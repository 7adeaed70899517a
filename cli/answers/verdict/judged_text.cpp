#include "cli/answers/verdict/judged_text.hpp"

#include "cli/answers/verdict/limit_text.hpp"
#include "cli/output/number_text.hpp"
#include "core/counted.hpp"
#include "core/text.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace dt::cli {
namespace {

using store::Finding;
using store::Judged;
using store::Method;
using store::Verdict;

bool is_difference(Metric metric) { return store::metric_row(metric).scale == store::Scale::difference; }

const char* unit_of(Metric metric) { return is_difference(metric) ? " points" : " %"; }

std::string words_of(Metric metric) { return std::string(store::metric_row(metric).words); }

double percent_of(double effect, Metric metric) { return 100 * (is_difference(metric) ? effect : effect - 1); }

std::string node_hours_text(double node_hours)
{
  return std::isfinite(node_hours) ? " (" + two_digits(node_hours) + " node-hours)" : "";
}

std::string what_would_decide(const Judged& judged)
{
  if (judged.between.is_known())
    return "; --against-now runs both again, interleaved, so that the scatter between studies does not count";
  const auto& more = judged.more;
  const bool in_rounds = judged.comparison.design == store::Design::paired || judged.comparison.design == store::Design::pooled;
  const auto runs = counted(more.per_side, in_rounds ? "more repeat" : "more run") + (in_rounds ? "" : " of each");
  if (more.decides)
    return "; about " + runs + " would decide, if effect and scatter stay" + node_hours_text(judged.more_node_hours);
  if (more.per_side > 0) return "; take at least " + runs + node_hours_text(judged.more_node_hours);
  return more.known ? "; more repeats alone would hardly decide" : "";
}

// Why the side has no value; empty if it has one.
std::string missing_text(const std::string& side, const store::Sample& sample, Metric metric)
{
  using store::NoValue;
  switch (store::why_no_value(sample, metric)) {
  case NoValue::none_succeeded:
    return "no run of " + side + " has succeeded";
  case NoValue::all_diverged:
    return "all runs of " + side + " diverged";
  case NoValue::copies:
    return "the ranks of " + side + " do not train together, so they have no " + words_of(metric);
  case NoValue::not_recorded:
    return "no run of " + side + " has a value of " + words_of(metric);
  case NoValue::has_values:
    break;
  }
  return "";
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
  const std::string what = store::metric_row(judged.metric).is_speed ? " to the target" : " in samples to the target";
  if (c.verdict != Verdict::cannot_tell) return "A is " + word_of(store::finding_of(c.verdict), judged.metric) + what + p;
  if (judged.a.reached + judged.b.reached == 0) return "cannot tell: no run reached the target" + misses_text(judged);
  const auto why = c.smallest_p > 1 - c.rule.level ? "; so few runs cannot decide" : "";
  return "cannot tell" + p + why + what_would_decide(judged);
}

// ", against the mean of 5 other studies of the work, which differ by 2 %: -5 % would be found in 19 % of such cases, …".
std::string gate_text(const Judged& judged)
{
  const auto found = [&](double change) {
    const double share = judged.comparison.rule.better == store::Better::larger ? 1 - change : 1 / (1 - change);
    return two_digits(100 * power_of(judged.gate, judged.comparison, share)) + " %";
  };
  const auto sign = judged.comparison.rule.better == store::Better::larger ? "-" : "+";
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
  return effect_with_interval(judged.comparison, judged.metric) + " " + words_of(judged.metric) +
         (judged.comparison.design == store::Design::exact ? " (deterministic, so without an interval)" : "") +
         between_text(judged);
}

// Of a limited verdict: what these runs show, and why that need not hold for other runs of A and B.
std::string limited_text(const Judged& judged)
{
  const auto why = "; " + limit_text(judged.limit);
  if (judged.comparison.method == Method::ranks) {
    auto of_runs = judged;
    of_runs.limit = {};
    of_runs.comparison.verdict = judged.of_runs;
    return (judged.of_runs == Verdict::cannot_tell ? "" : word_of(finding_of(judged), judged.metric) + ": ") +
           ranks_text(of_runs) + why;
  }
  const auto lead = judged.limit.kind == store::Limit::Kind::one_seed && judged.of_runs != Verdict::cannot_tell
                        ? "A is " + word_of(store::finding_of(judged.of_runs), judged.metric) +
                              (judged.of_runs == Verdict::equivalent ? " to B: " : " than B: ")
                        : std::string();
  return word_of(finding_of(judged), judged.metric) + (lead.empty() ? ": " : " ") + lead + effect_and_interval(judged) + why;
}

std::string undecided_text(const Judged& judged)
{
  if (judged.comparison.has_no_scatter)
    return "cannot tell: " + effect_and_interval(judged) +
           ", but neither the runs of A nor those of B differ among each other, as figures that are rounded or constant; nothing "
           "is known about their error";
  if (is_decidable(judged)) return "cannot tell: " + effect_and_interval(judged) + what_would_decide(judged);
  return "cannot tell: fewer than 3 runs (" + std::to_string(judged.comparison.runs_a) + " of A, " +
         std::to_string(judged.comparison.runs_b) + " of B); " +
         resolvable_text(judged.comparison.effect, judged.metric, judged.resolvable) + what_would_decide(judged);
}

} // namespace

std::string word_of(Finding finding, Metric metric)
{
  const bool is_speed = store::metric_row(metric).is_speed;
  switch (finding) {
  case Finding::faster:
    return is_speed ? "faster" : "better";
  case Finding::slower:
    return is_speed ? "slower" : "worse";
  case Finding::equivalent:
    return "equivalent";
  case Finding::same_runs:
    return "the same runs";
  case Finding::different_in_these_runs:
    return "different in these runs";
  case Finding::alike_in_these_runs:
    return "alike in these runs";
  case Finding::for_this_seed:
    return "for this one seed";
  case Finding::no_data:
    return "no data";
  case Finding::cannot_tell:
    break;
  }
  return "cannot tell";
}

std::string effect_text(double effect, Metric metric)
{
  const bool is_of_a_miss = !is_difference(metric) && effect == 0; // a median against one that is infinite
  if (!std::isfinite(effect) || is_of_a_miss) return "";
  return is_difference(metric) ? number_text("%+.2f points", percent_of(effect, metric))
                               : number_text("%+.1f %%", percent_of(effect, metric));
}

std::string interval_text(const store::Comparison& comparison, Metric metric)
{
  const auto& [low, high] = comparison.interval;
  if (!std::isfinite(low) || !std::isfinite(high)) return "";
  const char* format = is_difference(metric) ? "%+.2f" : "%+.1f";
  return "[" + number_text(format, percent_of(low, metric)) + ", " + number_text(format, percent_of(high, metric)) + "]";
}

std::string effect_with_interval(const store::Comparison& comparison, Metric metric)
{
  const auto interval = interval_text(comparison, metric);
  return effect_text(comparison.effect, metric) + (interval.empty() ? "" : " " + interval);
}

std::string resolvable_text(double effect, Metric metric, double resolvable)
{
  if (std::isnan(resolvable)) return "without repeats nothing is known about the scatter";
  if (resolvable < 1e-9)
    return "all repeats are equal, as figures that are rounded or constant, so nothing is known about the scatter";
  const bool is_beyond = std::abs(is_difference(metric) ? effect : effect - 1) > resolvable;
  return "the smallest difference that these runs could resolve is " + two_digits(100 * resolvable) + unit_of(metric) +
         (is_beyond ? ", and they differ by more, but that is no verdict without an interval" : "");
}

std::string reached_text(const store::Sample& sample)
{
  return std::to_string(sample.reached) + " of " + counted(sample.with_target, "run") + " reached the target" +
         (sample.diverged > 0 ? " and " + std::to_string(sample.diverged) + " diverged" : "");
}

std::string sentence_of(const Judged& judged)
{
  if (judged.is_same) return "A and B are the same runs, so nothing has changed";
  if (!has_data(judged)) {
    std::vector reasons{missing_text("A", judged.a, judged.metric), missing_text("B", judged.b, judged.metric)};
    std::erase(reasons, "");
    return "no data: " + join(reasons, " and ");
  }
  if (judged.limit.is_set() && is_decidable(judged)) return limited_text(judged);
  if (judged.comparison.method == Method::ranks) return ranks_text(judged);
  switch (judged.comparison.verdict) {
  case Verdict::cannot_tell:
    return undecided_text(judged);
  case Verdict::equivalent:
    return "A and B are equivalent: " + effect_and_interval(judged) + ", within the margin of " +
           two_digits(100 * judged.comparison.rule.margin) + unit_of(judged.metric);
  default:
    return "A is " + word_of(finding_of(judged), judged.metric) + " than B: " + effect_and_interval(judged);
  }
}

} // namespace dt::cli
