#include "store/analysis/verdict/standing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace dt::store {
namespace {

Standing unranked(const Contest& contest, Metric metric, const Rule& rule)
{
  std::vector<Sample> samples;
  for (const auto& point : contest.points) {
    samples.push_back(sample_of(point.candidate.empty() ? name_of(point) : point.candidate, point.runs, metric));
    samples.back().title = point.title.empty() && !point.candidate.empty() ? point.candidate : point.title;
  }
  Standing standing{.contest = contest.name,
                    .metric = metric,
                    .ranked = {},
                    .samples = std::move(samples),
                    .scatter = {},
                    .rule = rule,
                    .title = contest.title};
  standing.rule.better = metric_row(metric).better;
  return standing;
}

// With one seed for all repeats no candidate is behind another one.
void limit_to_seed(Standing& standing)
{
  std::vector<const Sample*> samples;
  for (const auto& sample : standing.samples) samples.push_back(&sample);
  standing.limit = limit_of_seeds(standing.metric, samples);
  if (!standing.limit.is_set()) return;
  for (auto& ranked : standing.ranked) {
    if (ranked.rank != Rank::unknown) ranked.rank = Rank::open;
    ranked.excluded_by.clear();
    ranked.excluder.reset();
    ranked.adjusted_p = std::numeric_limits<double>::quiet_NaN();
  }
}

// Ranks all samples, and sorts them by their places.
void rank(std::span<Standing> standings)
{
  std::vector<std::vector<Candidate>> candidates;
  std::vector<Contestants> contests;
  for (const auto& standing : standings) {
    auto& own = candidates.emplace_back();
    for (const auto& sample : standing.samples) own.push_back(sample.candidate);
  }
  for (std::size_t i = 0; i < standings.size(); ++i)
    contests.push_back({candidates[i], standings[i].rule, metric_row(standings[i].metric).scale, standings[i].metric});
  auto ranked = rankings(contests);
  for (std::size_t i = 0; i < standings.size(); ++i) {
    auto& standing = standings[i];
    standing.scatter = pooled_scatter(candidates[i], contests[i].scale);
    standing.ranked = std::move(ranked[i]);
    std::vector<Sample> sorted;
    for (const auto& row : standing.ranked) sorted.push_back(std::move(standing.samples[row.candidate]));
    standing.samples = std::move(sorted);
    limit_to_seed(standing);
  }
}

} // namespace

std::vector<Standing> standings_of(std::span<const Contest> contests, std::span<const Metric> metrics, const Rule& rule)
{
  std::vector<Standing> standings;
  for (const auto& contest : contests)
    for (const auto metric : metrics) standings.push_back(unranked(contest, metric, rule));
  rank(standings);
  return standings;
}

std::vector<std::size_t> may_be_best(const Standing& standing)
{
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < standing.ranked.size(); ++i)
    if (standing.ranked[i].rank != Rank::behind && standing.ranked[i].rank != Rank::unknown) places.push_back(i);
  return places;
}

bool none_reached(const Standing& standing)
{
  return metric_row(standing.metric).needs_target &&
         std::ranges::all_of(standing.samples, [](const Sample& sample) { return sample.reached == 0; });
}

bool has_enough_runs(const Sample& sample)
{
  const auto& values = sample.candidate.values;
  return static_cast<double>(values.size()) >= least_runs || (sample.candidate.is_exact && !values.empty());
}

std::size_t count_with_enough_runs(const Standing& standing)
{
  return static_cast<std::size_t>(std::ranges::count_if(standing.samples, has_enough_runs));
}

Outcome outcome_of(const Standing& standing)
{
  if (standing.ranked.size() < 2) return Outcome::nothing_to_rank;
  if (none_reached(standing)) return Outcome::none_reached;
  if (count_with_enough_runs(standing) < 2) return Outcome::too_few_runs;
  if (standing.limit.is_set()) return Outcome::one_seed;
  const auto best = may_be_best(standing);
  if (best.size() == 1) return Outcome::one;
  return standing.ranked[best.front()].rank == Rank::equivalent ? Outcome::equivalent : Outcome::several;
}

bool is_ranked(Outcome outcome)
{
  return outcome == Outcome::one || outcome == Outcome::equivalent || outcome == Outcome::several;
}

bool is_as_open(const Standing& one, const Standing& other)
{
  if (outcome_of(one) != Outcome::several || outcome_of(other) != Outcome::several) return false;
  const auto names = [](const Standing& standing) {
    std::set<std::string> best;
    for (const auto place : may_be_best(standing)) best.insert(standing.ranked[place].name);
    return best;
  };
  return names(one) == names(other);
}

bool cannot_decide(const Standing& standing)
{
  const auto is_open = [&](const Ranked& row) {
    return !row.with_best || (row.with_best->method == Method::ranks && row.with_best->smallest_p > 1 - standing.rule.level);
  };
  return standing.ranked[1].with_best && std::all_of(standing.ranked.begin(), standing.ranked.end(), is_open);
}

std::optional<Comparison> lead_over_second(const Standing& standing)
{
  auto lead = standing.ranked[1].with_best;
  if (!lead) return lead;
  const bool is_difference = lead->method == Method::difference;
  const auto turn = [&](double value) { return is_difference ? -value : 1 / value; };
  lead->effect = turn(lead->effect);
  lead->interval = {turn(lead->interval.high), turn(lead->interval.low)};
  return lead;
}

Unresolved unresolved_of(const Standing& standing)
{
  const auto &first = standing.samples[0].candidate, &second = standing.samples[1].candidate;
  const auto scale = metric_row(standing.metric).scale;
  const double a = centre_of(first, scale), b = centre_of(second, scale);
  return {scale == Scale::difference ? a - b : a / b,
          resolvable_difference(standing.scatter.cv, standing.scatter.freedom, static_cast<double>(first.values.size()),
                                static_cast<double>(second.values.size()), standing.rule.level)};
}

Hindrance hindrance_of(const Standing& standing)
{
  const auto best = may_be_best(standing);
  for (std::size_t later = 1; later < best.size(); ++later) {
    const auto by = confounding_of(standing.samples[best[0]].candidate, standing.samples[best[later]].candidate);
    if (by != Confounded::no) return {Hindrance::Kind::confounded, by, best[0], best[later]};
    const auto& comparison = standing.ranked[best[later]].with_best;
    if (best[0] == 0 && comparison && comparison->has_no_scatter && comparison->design != Design::exact)
      return {Hindrance::Kind::no_scatter, by, best[0], best[later]};
  }
  return {};
}

bool differs_in_one_pair(const Standing& standing)
{
  return std::ranges::any_of(may_be_best(standing), [&](std::size_t place) {
    const auto& pair = standing.ranked[place].with_best;
    return pair && (pair->verdict == Verdict::faster || pair->verdict == Verdict::slower);
  });
}

} // namespace dt::store
