// Rankings and scaling in words.
#include "store/analysis/verdict/verdict.hpp"

#include "core/text.hpp"
#include "store/analysis/verdict/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dt::store {
namespace {

std::string shown(const std::string& name) { return name.empty() ? "the only label" : printable(name); }

std::string names_of(const Standing& standing, const std::vector<std::size_t>& places)
{
  constexpr std::size_t most = 6;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(places.size(), most); ++i) names.push_back(shown(standing.ranked[places[i]].name));
  if (places.size() > most) names.push_back("and " + std::to_string(places.size() - most) + " more");
  return join(names, ", ");
}

bool has_enough_runs(const Sample& sample) { return static_cast<double>(sample.candidate.values.size()) >= least_runs; }

// Returns "local-sgd (2 runs), …" for the candidates that have too few runs to be judged.
std::string too_few(const Standing& standing)
{
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < standing.samples.size(); ++i)
    if (!has_enough_runs(standing.samples[i])) places.push_back(i);
  return places.empty() ? "" : "; with fewer than 3 runs nothing can be said about " + names_of(standing, places);
}

std::string beginning(const Standing& standing)
{
  const auto at = standing.contest.empty() ? "" : " at " + standing.contest;
  return "By " + std::string(metric_row(standing.metric).words) + at + ", ";
}

// The first with the second: A is the second in a ranking, so the effect is turned round.
std::string lead_text(const Standing& standing, std::size_t place)
{
  const auto& comparison = *standing.ranked[place].with_best;
  auto turned = comparison;
  const bool is_difference = comparison.method == Method::difference;
  const auto turn = [&](double value) { return is_difference ? -value : 1 / value; };
  turned.effect = turn(comparison.effect);
  turned.interval = {turn(comparison.interval.high), turn(comparison.interval.low)};
  const auto interval = interval_text(turned, standing.metric);
  return effect_text(turned.effect, standing.metric) + (interval.empty() ? "" : " " + interval);
}

// Returns ": +4.5 % [+2.1, +6.9] against sync-sgd, p = 0.003 by Holm's correction", or less if less is known.
std::string lead_over_second(const Standing& standing)
{
  const auto& second = standing.ranked[1];
  if (!second.with_best) return "";
  auto lead = lead_text(standing, 1);
  lead += (lead.empty() ? "ahead of " : " against ") + shown(second.name);
  if (!std::isnan(second.adjusted_p)) lead += ", p = " + number_text("%.2g", second.adjusted_p) + " by Holm's correction";
  return ": " + lead;
}

std::string nothing_told(const Standing& standing)
{
  const auto& first = standing.samples.front().candidate.values;
  const auto& second = standing.samples[1].candidate.values;
  const double resolvable =
      resolvable_difference(standing.scatter.cv, standing.scatter.freedom, static_cast<double>(first.size()),
                            static_cast<double>(second.size()), standing.rule.level);
  const auto scale = metric_row(standing.metric).scale == Scale::difference ? " points" : " %";
  const auto limit = std::isnan(resolvable)
                         ? std::string("without repeats nothing is known about the scatter")
                         : "the smallest difference that these runs could resolve is " + two_digits(100 * resolvable) + scale;
  return beginning(standing) +
         "the runs do not show which candidate is the best, because fewer than two candidates have 3 runs (take at least 3 "
         "repeats: study.repeats); " +
         limit;
}

// Returns "; 1 of 3 runs of easgd reached the target" for the candidates with a miss.
std::string misses_of(const Standing& standing)
{
  if (standing.metric != Metric::time_to_target) return "";
  constexpr std::size_t most = 4;
  std::string text;
  std::size_t missed = 0;
  for (const auto& sample : standing.samples)
    if (sample.reached < sample.with_target && ++missed <= most)
      text += "; " + shown(sample.candidate.name) + ": " + reached_text(sample);
  if (missed > most) text += "; " + std::to_string(missed - most) + " more candidates have runs that missed the target";
  return text;
}

// Whether no rank test of the first with another could have decided.
bool cannot_decide(const Standing& standing)
{
  const auto is_open = [&](const Ranked& row) {
    return !row.with_best || (row.with_best->method == Method::ranks && row.with_best->smallest_p > 1 - standing.rule.level);
  };
  return standing.ranked[1].with_best && std::all_of(standing.ranked.begin(), standing.ranked.end(), is_open);
}

bool none_reached(const Standing& standing)
{
  return standing.metric == Metric::time_to_target &&
         std::all_of(standing.samples.begin(), standing.samples.end(), [](const Sample& s) { return s.reached == 0; });
}

std::string size_words(const ScalingRow& row, bool in_nodes)
{
  const auto count = row.is_part ? row.size : in_nodes ? row.nodes : row.workers;
  const std::string unit = row.is_part ? " part" : in_nodes ? " node" : row.workers == row.ranks ? " rank" : " worker";
  return std::to_string(count) + unit + (count == 1 ? "" : "s");
}

// Whether the efficiency differs from 100 %.
std::string against_ideal(const ScalingRow& row)
{
  if (!std::isfinite(row.efficiency_low)) return "";
  if (row.efficiency_high < 1) return ", below 100 %";
  return row.efficiency_low > 1 ? ", above 100 %" : ", not measurably different from 100 %";
}

// Whether the efficiency differs from that of the next smaller size.
std::string against_smaller(const ScalingRow& row, const ScalingRow& smaller, bool in_nodes)
{
  const auto interval = efficiency_interval(row, smaller);
  if (!std::isfinite(interval.low)) return "";
  const auto that = " that at " + size_words(smaller, in_nodes);
  if (interval.high < 1) return " and below" + that;
  return interval.low > 1 ? " and above" + that : " and not measurably different from" + that;
}

std::string efficiency_text(const ScalingRow& row)
{
  auto text = number_text("%.2fx", row.speedup) + ", efficiency " + number_text("%.1f %%", row.efficiency * 100);
  if (std::isfinite(row.efficiency_low))
    text += " [" + number_text("%.1f", row.efficiency_low * 100) + ", " + number_text("%.1f", row.efficiency_high * 100) + "]";
  return text;
}

// A simulated run's label begins so (recipes/expansion). Without a compute profile its times have no scatter.
bool is_simulated(const ScalingRow& row) { return row.label.starts_with("simulated"); }

// How fast the parts are together, compared with the fewest parts.
std::string part_text(const ScalingRow& row, const ScalingRow& fewest)
{
  auto text = number_text("%.2fx", row.speedup) + " the throughput of " + size_words(fewest, false);
  if (!std::isfinite(row.efficiency_low)) return text;
  text += " [" + number_text("%.2f", row.efficiency_low) + ", " + number_text("%.2f", row.efficiency_high) + "], ";
  if (row.efficiency_low > 1) return text + "faster";
  return text + (row.efficiency_high < 1 ? "slower" : "not measurably different");
}

// What repeats are missing, if an efficiency has no interval.
std::string missing_repeats(std::span<const ScalingRow> points)
{
  if (std::all_of(points.begin(), points.end(), is_simulated)) return ". The times are simulated: they lack a machine's scatter";
  std::vector<Candidate> candidates;
  double fewest = least_runs;
  for (const auto& point : points) {
    candidates.push_back({point.label, point.throughputs});
    fewest = std::min(fewest, static_cast<double>(point.throughputs.size()));
  }
  if (fewest >= least_runs) return "";
  const auto scatter = pooled_scatter(candidates, Scale::ratio);
  const double resolvable = resolvable_difference(scatter.cv, scatter.freedom, fewest, fewest, 0.95);
  const auto text = ". With fewer than 3 runs of a size, the runs do not show whether its efficiency differs from " +
                    std::string(points.front().is_part ? "that of the fewest parts: " : "100 %: ");
  return text + (std::isnan(resolvable)
                     ? "without repeats nothing is known about the scatter"
                     : "the smallest difference that these runs could resolve is " + two_digits(100 * resolvable) + " %");
}

} // namespace

Standing standing_of(std::string contest, Metric metric, std::vector<Sample> samples, const Rule& rule)
{
  const auto& row = metric_row(metric);
  Standing standing{.contest = std::move(contest), .metric = metric, .ranked = {}, .samples = {}, .scatter = {}, .rule = rule};
  standing.rule.better = row.better;
  std::vector<Candidate> candidates;
  for (const auto& sample : samples) candidates.push_back(sample.candidate);
  standing.scatter = pooled_scatter(candidates, row.scale);
  standing.ranked = ranking(candidates, standing.rule, row.scale);
  for (const auto& ranked : standing.ranked)
    standing.samples.push_back(std::move(*std::find_if(
        samples.begin(), samples.end(), [&](const Sample& sample) { return sample.candidate.name == ranked.name; })));
  return standing;
}

Standing standing_of(const Contest& contest, Metric metric, const Rule& rule)
{
  std::vector<Sample> samples;
  for (const auto& point : contest.points)
    samples.push_back(sample_of(point.candidate.empty() ? name_of(point) : point.candidate, point.runs, metric));
  return standing_of(contest.name, metric, std::move(samples), rule);
}

std::vector<std::size_t> may_be_best(const Standing& standing)
{
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < standing.ranked.size(); ++i)
    if (standing.ranked[i].excluded_by.empty() && !standing.samples[i].candidate.values.empty()) places.push_back(i);
  return places;
}

std::string sentence_of(const Standing& standing)
{
  if (standing.ranked.size() < 2) return "There is only one candidate, so there is nothing to rank";
  if (none_reached(standing))
    return beginning(standing) + "no candidate is the best: no run reached the target" + misses_of(standing);
  const auto enough = std::count_if(standing.samples.begin(), standing.samples.end(), has_enough_runs);
  if (enough < 2) return nothing_told(standing) + misses_of(standing);
  const auto best = may_be_best(standing);
  const auto ending = too_few(standing) + misses_of(standing);
  if (best.size() == 1)
    return beginning(standing) + shown(standing.ranked[best.front()].name) + " is the best of " +
           std::to_string(standing.ranked.size()) + (best.front() == 0 ? lead_over_second(standing) : "") + ending;
  const auto lead = standing.ranked[1].with_best ? lead_text(standing, 1) : std::string();
  const auto why = cannot_decide(standing) ? "; so few runs cannot decide" : "";
  const auto first_two = shown(standing.ranked[0].name) + " against " + shown(standing.ranked[1].name);
  return beginning(standing) + std::to_string(best.size()) +
         " candidates may be the best, and the runs do not show which of them is: " + names_of(standing, best) +
         (lead.empty() ? "" : "; " + first_two + ": " + lead) + why + ending;
}

std::string scaling_sentence(std::span<const ScalingRow> points)
{
  std::vector<const ScalingRow*> measured;
  for (const auto& point : points)
    if (!point.throughputs.empty()) measured.push_back(&point);
  if (measured.empty()) return "No run has succeeded, so nothing can be said";
  const bool in_nodes = measured.front()->nodes != measured.back()->nodes && measured.back()->size == measured.back()->nodes;
  if (measured.size() == 1)
    return "Only one size was measured (" + size_words(*measured.front(), in_nodes) + "), so there is no efficiency to report";
  std::vector<std::string> parts;
  for (std::size_t i = 1; i < measured.size(); ++i) {
    if (!std::isfinite(measured[i]->efficiency)) continue;
    const auto& row = *measured[i];
    auto text = row.is_part ? part_text(row, *measured.front()) : efficiency_text(row) + against_ideal(row);
    if (i > 1 && !row.is_part) text += against_smaller(row, *measured[i - 1], in_nodes);
    parts.push_back(size_words(row, in_nodes) + ": " + text);
  }
  if (parts.empty()) return "The smallest size was not measured, so there is no efficiency to report";
  return join(parts, "; ") + missing_repeats(points);
}

} // namespace dt::store
