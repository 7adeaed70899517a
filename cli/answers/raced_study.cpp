#include "cli/answers/raced_study.hpp"

#include "core/natural_key.hpp"
#include "core/record/run_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace dt::cli {
namespace {

constexpr std::int64_t least_first = 3; // fewer runs have no interval
constexpr double default_margin = 0.03;

std::vector<store::RacePoint> race_points(const std::vector<store::RunRow>& rows, const StudyRace& race,
                                          const store::PointLabels& labels)
{
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, store::RacePoint> points;
  for (const auto& row : rows) {
    auto& point = points[{natural_key(row.series), row.ranks, row.nodes}];
    point.label = row.series;
    point.title = labels.shown(row.series);
    point.ranks = row.ranks;
    point.nodes = row.nodes;
    const auto repeat = static_cast<std::size_t>(row.repeat);
    if (point.values.size() <= repeat) point.values.resize(repeat + 1);
    point.values[repeat] = race_value(row, race);
  }
  std::vector<store::RacePoint> sorted;
  for (auto& [place, point] : points) sorted.push_back(std::move(point));
  return sorted;
}

} // namespace

StudyRace race_of_recipe(const StudySpec& study)
{
  const auto& until = study.until;
  const auto first = std::max(least_first, study.repeats);
  return {.metric = std::string(name_of(until.metric)),
          .margin = until.interval > 0 ? until.interval : default_margin,
          .first = first,
          .most = std::max(first, until.max_repeats)};
}

store::RaceRule rule_of(const StudyRace& race)
{
  const auto metric = find_choice<Metric>(race.metric).value_or(Metric::throughput);
  return {.margin = race.margin, .first = race.first, .most = race.most, .better = store::metric_row(metric).better};
}

std::optional<double> race_value(const store::RunRow& row, const StudyRace& race)
{
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (!is_final(row.state) || row.state == RunState::cancelled) return std::nullopt;
  if (row.state != RunState::succeeded) return none;
  if (race.metric == name_of(Metric::throughput)) return row.figure("throughput");
  if (row.has_diverged() || !row.knows_target()) return none;
  const double time_s = row.figure("time_to_accuracy_s");
  return std::isnan(time_s) ? std::numeric_limits<double>::infinity() : time_s;
}

void let_race_decide(StudyVerdict& verdict, const std::optional<StudyRecord>& study, const std::vector<store::RunRow>& rows,
                     const store::PointLabels& labels, const std::vector<std::string>& facts)
{
  if (!study || study->race.metric.empty() || verdict.kind != VerdictKind::candidates) return;
  const auto points = race_points(rows, study->race, labels);
  const auto rule = rule_of(study->race);
  auto text = race_verdict(points, store::race_of(points, rule), rule, "", facts);
  if (!text.headline.empty()) verdict = {.kind = VerdictKind::candidates, .text = std::move(text), .standings = {}};
}

} // namespace dt::cli
