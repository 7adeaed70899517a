#include "store/analysis/verdict/best_points.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace dt::store {
namespace {

constexpr CriterionRow rows[]{
    {Criterion::time_to_target, "time-to-target", "to target", Better::smaller},
    {Criterion::throughput, "throughput", "samples/s", Better::larger},
    {Criterion::node_hours, "node-hours", "node-hours", Better::smaller},
    {Criterion::samples, "samples", "samples to target", Better::smaller},
};

Better better_of(Criterion criterion)
{
  return std::find_if(std::begin(rows), std::end(rows), [&](const auto& row) { return row.criterion == criterion; })->better;
}

double centre_of_samples(const ComparedPoint& point, const std::map<std::string, double>& samples)
{
  Candidate reached;
  for (const auto& run : point.runs) {
    if (!has_trained(run) || !(run.target_accuracy > 0)) continue;
    const auto found = samples.find(run.key);
    if (found != samples.end()) reached.values.push_back(found->second);
    if (!(run.time_to_accuracy_s > 0) && run.knows_target) reached.values.push_back(std::numeric_limits<double>::infinity());
  }
  return centre_of(reached, Scale::time_to_target);
}

double centre_of_node_hours(const ComparedPoint& point)
{
  Candidate hours;
  for (const auto& run : point.runs)
    if (run.succeeded && run.wall_s > 0) hours.values.push_back(static_cast<double>(run.nodes) * run.wall_s / 3600);
  return centre_of(hours, Scale::ratio);
}

PricedPoint priced(const ComparedPoint& point, const std::map<std::string, double>& samples)
{
  const auto times = sample_of("", point.runs, Metric::time_to_target);
  return {.name = name_of(point),
          .runs = times.succeeded,
          .reached = times.reached,
          .with_target = times.with_target,
          .diverged = times.diverged,
          .throughput = centre_of(sample_of("", point.runs, Metric::throughput).candidate, Scale::ratio),
          .time_to_target_s = centre_of(times.candidate, Scale::time_to_target),
          .samples_to_target = centre_of_samples(point, samples),
          .node_hours = centre_of_node_hours(point),
          .label = point.candidate,
          .size = size_text(point.nodes, point.ranks)};
}

} // namespace

std::span<const CriterionRow> criterion_rows() { return rows; }

double figure_of(const PricedPoint& point, Criterion criterion)
{
  switch (criterion) {
  case Criterion::time_to_target:
    return point.time_to_target_s;
  case Criterion::throughput:
    return point.throughput;
  case Criterion::node_hours:
    return point.node_hours;
  case Criterion::samples:
    break;
  }
  return point.samples_to_target;
}

Criterion partner_of(Criterion criterion, std::span<const PricedPoint> points)
{
  if (criterion != Criterion::node_hours) return criterion;
  const bool has_target = std::any_of(points.begin(), points.end(), [](const auto& point) { return point.with_target > 0; });
  return has_target ? Criterion::time_to_target : Criterion::throughput;
}

std::vector<PricedPoint> priced_points(std::span<const ComparedPoint> points, const std::map<std::string, double>& samples)
{
  std::vector<PricedPoint> all;
  for (const auto& point : points) all.push_back(priced(point, samples));
  return all;
}

std::vector<PricedPoint> best_points(std::vector<PricedPoint> points, Criterion criterion)
{
  const auto partner = partner_of(criterion, points);
  std::vector<Criteria> criteria;
  for (const auto& point : points) {
    const double figure = figure_of(point, partner);
    criteria.push_back({std::isfinite(figure) ? figure : not_measured, point.node_hours});
  }
  for (const auto index : pareto_set(criteria, better_of(partner), Better::smaller)) points[index].is_in_set = true;
  const double sign = better_of(criterion) == Better::larger ? -1 : 1;
  const auto place = [&](const PricedPoint& point) {
    const double figure = sign * figure_of(point, criterion);
    return std::tuple(!point.is_in_set, std::isnan(figure), std::isnan(figure) ? 0 : figure);
  };
  std::stable_sort(points.begin(), points.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return points;
}

} // namespace dt::store
