#include "store/analysis/verdict/study_answer.hpp"

#include "store/analysis/prediction/target_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace dt::store {
namespace {

std::int64_t size_of(const StudyAnswer& answer, const ComparedPoint& point)
{
  return answer.by_nodes ? point.nodes : point.ranks;
}

// All points in one contest, each with a name that has its size. `factor_of`: of the times to the target.
template<class FactorOf> Contest contest_of_all(const std::vector<ComparedPoint>& points, FactorOf factor_of)
{
  Contest all;
  for (auto point : points) {
    const double factor = factor_of(point);
    for (auto& run : point.runs) run.time_to_accuracy_s *= factor;
    const auto name = name_of(point), title = title_of(point);
    point.candidate = name;
    point.title = title;
    all.points.push_back(std::move(point));
  }
  return all;
}

// The centre of a figure of a point's runs; NaN if a run missed the target.
double centre(const ComparedPoint& point, Metric metric)
{
  const auto sample = sample_of(point.candidate, point.runs, metric);
  if (sample.candidate.values.empty() || has_miss(sample.candidate)) return not_measured;
  return centre_of(sample.candidate, Scale::ratio);
}

SizeGain gain_between(const StudyAnswer& answer, const ComparedPoint& from, const ComparedPoint& to)
{
  SizeGain gain{.from = size_of(answer, from), .to = size_of(answer, to)};
  gain.sooner = centre(from, Metric::time_to_target) / centre(to, Metric::time_to_target);
  gain.speed = centre(to, Metric::throughput) / centre(from, Metric::throughput);
  gain.samples = centre(to, Metric::samples) / centre(from, Metric::samples);
  gain.rest = gain.speed / (gain.samples * gain.sooner);
  return gain;
}

// How the time of the first candidate's series changes from size to size.
void add_gains(StudyAnswer& answer)
{
  const auto& best = answer.points[answer.soonest.ranked.front().candidate];
  std::vector<const ComparedPoint*> sizes;
  for (const auto& point : answer.points)
    if (point.candidate == best.candidate && point.rest == best.rest && std::isfinite(centre(point, Metric::time_to_target)))
      sizes.push_back(&point);
  std::ranges::stable_sort(sizes, {}, [&](const auto* point) { return size_of(answer, *point); });
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    const auto gain = gain_between(answer, *sizes[i], *sizes[i + 1]);
    const double doublings = std::log2(static_cast<double>(gain.to) / static_cast<double>(gain.from));
    if (!(doublings > 0)) return;
    answer.steps.push_back(gain);
    if (answer.worth_until == 0 && std::pow(1 / gain.sooner, 1 / doublings) > 1 - least_saving) answer.worth_until = gain.from;
  }
  if (sizes.size() > 1 && sizes.front() != &best && std::isfinite(centre(best, Metric::time_to_target)))
    answer.gain = gain_between(answer, *sizes.front(), best);
}

template<class FigureOf> bool differ(const std::vector<ComparedPoint>& points, FigureOf figure_of)
{
  return std::ranges::any_of(points, [&](const auto& point) { return figure_of(point) != figure_of(points.front()); });
}

} // namespace

std::optional<StudyAnswer> study_answer(const std::vector<ComparedPoint>& points, const Rule& rule)
{
  const auto size_pair = [](const ComparedPoint& point) { return std::pair(point.nodes, point.ranks); };
  if (points.size() < 2 || !differ(points, size_pair)) return std::nullopt;
  std::set<double> targets;
  for (const auto& point : points)
    for (const auto& run : point.runs) targets.insert(run.has_target() ? run.target_accuracy : 0);
  if (targets.size() != 1 || *targets.begin() <= 0) return std::nullopt;
  StudyAnswer answer{.by_nodes = differ(points, [](const auto& point) { return point.nodes; }),
                     .target = *targets.begin(),
                     .points = points,
                     .soonest = {},
                     .cheapest = {}};
  std::vector<Contest> contests{contest_of_all(points, [](const ComparedPoint&) { return 1.0; })};
  constexpr Metric metrics[]{Metric::time_to_target};
  answer.soonest = standings_of(contests, metrics, rule).front();
  if (answer.by_nodes) {
    contests = {contest_of_all(points, [](const ComparedPoint& point) { return static_cast<double>(point.nodes) / 3600; })};
    answer.cheapest = standings_of(contests, metrics, rule).front();
  }
  if (count_with_enough_runs(answer.soonest) == 0) return std::nullopt;
  answer.seeds = answer.soonest.samples.front().seeds;
  for (const auto& sample : answer.soonest.samples) {
    answer.runs += sample.candidate.values.size();
    answer.seeds = std::min(answer.seeds, sample.seeds);
  }
  if (!none_reached(answer.soonest)) add_gains(answer);
  return answer;
}

} // namespace dt::store
