#include "cli/runs/tuned_points.hpp"

#include "core/record/run_record.hpp"
#include "core/record/run_state.hpp"
#include "core/spec/point_label.hpp"
#include "core/text.hpp"
#include "store/query/compared_runs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// NaN of NaN. Not 0, whose logarithm is infinite.
double error_of(double accuracy) { return std::isnan(accuracy) ? accuracy : std::max(1 - accuracy, 1e-6); }

// The figure of a run that the search minimises. Infinite: the run diverged, missed its target or has no such figure.
double cost_of(const store::RunRow& row, Metric metric)
{
  if (row.state != RunState::succeeded || row.has_diverged()) return infinite;
  if (metric == Metric::accuracy) {
    const double accuracy = row.figure("accuracy");
    return std::isnan(accuracy) ? infinite : error_of(accuracy);
  }
  const double value = row.figure(store::metric_row(metric).column);
  return value > 0 ? value : infinite;
}

using RunPlace = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>; // series, nodes, ranks, repeat

RunPlace place_of(const store::RunRow& row) { return {row.series, row.nodes, row.ranks, row.repeat}; }

// Adds what the runs with the tuned values have shown. `figures`: of all runs of the study.
void add_results(std::vector<TunedPoint>& points, std::vector<store::Run> figures, Metric metric)
{
  std::erase_if(figures, [](const store::Run& run) { return run.is_control; });
  for (auto& point : points) {
    std::vector<store::Run> runs;
    for (const auto& run : figures)
      if (run.series == point.series && run.nodes == point.nodes && run.ranks == point.ranks) runs.push_back(run);
    const double centre = store::centre_of(store::sample_of("", runs, metric).candidate, store::metric_row(metric).scale);
    point.result_cost = metric == Metric::accuracy ? error_of(centre) : centre;
  }
}

// Settings to begin with at a larger size: the optimum of the smaller one; for a learning rate also what the square-root rule and
// the linear rule make of it [Krizhevsky2014, Goyal2017].
std::vector<store::Setting> guesses_of(const TunedPoint& smaller, const TunedPoint& larger)
{
  if (!smaller.is_tuned() || smaller.keys.empty()) return {};
  std::vector<store::Setting> guesses{*smaller.search.best};
  const double ratio =
      smaller.global_batch > 0 ? static_cast<double>(larger.global_batch) / static_cast<double>(smaller.global_batch) : 1;
  for (std::size_t k = 0; k < larger.keys.size(); ++k)
    if (larger.keys[k].path.ends_with("learning_rate") && ratio > 1)
      for (const double factor : {std::sqrt(ratio), ratio}) {
        auto guess = guesses.front();
        guess[k] *= factor;
        guesses.push_back(std::move(guess));
      }
  return guesses;
}

} // namespace

std::map<std::string, std::string> TunedPoint::texts(const store::Setting& setting) const
{
  std::map<std::string, std::string> texts;
  for (std::size_t k = 0; k < keys.size(); ++k) texts.emplace(keys[k].path, tuned_text(keys[k], setting[k]));
  return texts;
}

double TunedPoint::cost() const
{
  if (!std::isnan(result_cost)) return result_cost;
  return search.is_over && search.best ? search.cost : not_measured;
}

double held_s(const store::RunRow& row) { return row.end_unix_s - row.begin_unix_s; }

double held_node_hours(const store::RunRow& row)
{
  const auto nodes = row.platform.empty() ? row.nodes : 1; // one process simulates a run
  return static_cast<double>(nodes) * held_s(row) / 3600;
}

Metric metric_of(const StudyTune& tune) { return find_choice<Metric>(tune.metric).value_or(Metric::time_to_target); }

StudyTune tune_of_recipe(const StudySpec& study)
{
  if (study.tune.keys.empty()) return {};
  return {.metric = std::string(name_of(study.tune.metric)),
          .keys = study.tune.keys,
          .runs = study.tune.runs,
          .seeds = study.tune.seeds,
          .results = study.repeats};
}

bool was_ended_early(const store::RunRow& row)
{
  return row.state == RunState::cancelled && row.cause_kind == cause_kind::ended_early;
}

bool failed_by_itself(const store::RunRow& row)
{
  constexpr std::array kinds{cause_kind::rank_error, cause_kind::rank_abort, cause_kind::rank_exit, cause_kind::job_exit};
  const bool is_search = row.is_control && tried_setting(row.series);
  return is_search && (row.state == RunState::timed_out ||
                       (row.state == RunState::failed && std::ranges::find(kinds, row.cause_kind) != kinds.end()));
}

std::vector<TunedPoint> tuned_points(const std::vector<store::RunRow>& rows, const StudyTune& tune)
{
  std::map<std::tuple<std::int64_t, std::int64_t, std::string>, TunedPoint> points;
  for (const auto& row : rows) {
    const auto tried = row.is_control ? tried_setting(row.series) : std::nullopt;
    if (!tried) continue;
    auto& point = points[{row.ranks, row.nodes, tried->series}];
    if (!point.keys.empty()) continue;
    point.series = tried->series;
    point.nodes = row.nodes;
    point.ranks = row.ranks;
    point.global_batch = row.global_batch;
    for (const auto& [path, value] : tried->values)
      if (const auto range = tune.keys.find(path); range != tune.keys.end()) point.keys.push_back(tuned_key(path, range->second));
  }
  std::vector<TunedPoint> sorted;
  for (auto& [place, point] : points) sorted.push_back(std::move(point));
  return sorted;
}

void replay_searches(std::vector<TunedPoint>& points, const std::vector<store::RunRow>& rows, const StudyTune& tune,
                     const std::function<bool(const store::RunRow&)>& counts)
{
  add_results(points, store::figures_of(rows), metric_of(tune));
  std::map<RunPlace, const store::RunRow*> runs;
  for (const auto& row : rows)
    if (row.is_control) runs.emplace(place_of(row), &row);
  std::map<std::string, const TunedPoint*> smaller; // by series: the point of the size before
  for (auto& point : points) {
    const auto before = smaller.find(point.series);
    const auto* previous = before == smaller.end() ? nullptr : before->second;
    smaller[point.series] = &point;
    point.has_begun = previous == nullptr || previous->is_over();
    if (point.keys.empty() || !point.has_begun) continue;
    const auto prefix = point.series + (point.series.empty() ? "" : " ");
    point.ended = 0;
    point.in_vain = 0;
    point.node_hours = 0;
    point.search_s = 0;
    const store::CostOf cost_of_trial = [&](const store::Trial& trial) -> std::optional<double> {
      const auto found = runs.find(
          {prefix + tried_word(point.texts(trial.setting)), point.nodes, point.ranks, first_search_repeat + trial.seed});
      if (found == runs.end()) return std::nullopt;
      const auto& row = *found->second;
      if (!is_final(row.state) || (row.state != RunState::succeeded && !was_ended_early(row) && !counts(row)))
        return std::nullopt;
      ++point.ended;
      if (const double node_hours = held_node_hours(row); node_hours > 0) point.node_hours += node_hours;
      if (!row.platform.empty() || held_s(row) > 0) point.search_s += row.platform.empty() ? held_s(row) : not_measured;
      const double cost = cost_of(row, metric_of(tune));
      if (std::isinf(cost)) ++point.in_vain;
      return cost;
    };
    point.search =
        store::search_of({.keys = point.keys, .runs = tune.runs, .seeds = tune.seeds},
                         previous == nullptr ? std::vector<store::Setting>() : guesses_of(*previous, point), cost_of_trial);
  }
}

std::vector<TunedPoint> tuned_points_of(const std::optional<StudyRecord>& study, const std::vector<store::RunRow>& rows)
{
  if (!study || study->tune.metric.empty()) return {};
  auto points = tuned_points(rows, study->tune);
  replay_searches(points, rows, study->tune, [](const store::RunRow& row) { return row.state != RunState::cancelled; });
  return points;
}

std::set<std::string> ordinary_outcomes(const std::vector<RunView>& runs)
{
  const auto point_of = [](const store::RunRow& row) {
    const auto tried = row.is_control ? tried_setting(row.series) : std::nullopt;
    return std::tuple(tried ? tried->series : "", row.nodes, row.ranks, tried.has_value());
  };
  std::set<decltype(point_of(runs.front().row))> working;
  for (const auto& [row, live, step, rate] : runs)
    if (row.state == RunState::succeeded) working.insert(point_of(row));
  std::set<std::string> keys;
  for (const auto& run : runs)
    if ((was_ended_early(run.row) || failed_by_itself(run.row)) && working.contains(point_of(run.row))) keys.insert(run.row.key);
  return keys;
}

} // namespace dt::cli
