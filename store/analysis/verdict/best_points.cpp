#include "store/analysis/verdict/best_points.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace dt::store {
namespace {

PricedPoint priced(const ComparedPoint& point)
{
  PricedPoint all{.name = name_of(point), .figures = {}, .label = point.candidate, .size = size_text(point.nodes, point.ranks)};
  for (const auto& row : metric_rows()) {
    const auto sample = sample_of("", point.runs, row.metric);
    all.figures[row.metric] = centre_of(sample.candidate, row.scale);
    all.runs = sample.succeeded; // these are the same for every metric
    all.reached = sample.reached;
    all.with_target = sample.with_target;
    all.diverged = sample.diverged;
  }
  return all;
}

} // namespace

double PricedPoint::figure(Metric metric) const
{
  const auto found = figures.find(metric);
  return found == figures.end() ? not_measured : found->second;
}

Weighed weighed_of(Metric metric, std::span<const PricedPoint> points)
{
  if (metric == Metric::energy) return {Metric::throughput, metric};
  if (metric != Metric::node_hours) return {metric, Metric::node_hours};
  const bool has_target = std::any_of(points.begin(), points.end(), [](const auto& point) { return point.with_target > 0; });
  return {has_target ? Metric::time_to_target : Metric::throughput, metric};
}

std::vector<PricedPoint> priced_points(std::span<const ComparedPoint> points)
{
  std::vector<PricedPoint> all;
  for (const auto& point : points) all.push_back(priced(point));
  return all;
}

std::vector<PricedPoint> best_points(std::vector<PricedPoint> points, Metric metric)
{
  const auto [first, second] = weighed_of(metric, points);
  const auto finite = [](double figure) { return std::isfinite(figure) ? figure : not_measured; };
  std::vector<Criteria> criteria;
  for (const auto& point : points) criteria.push_back({finite(point.figure(first)), finite(point.figure(second))});
  for (const auto index : pareto_set(criteria, metric_row(first).better, metric_row(second).better))
    points[index].is_in_set = true;
  const double sign = metric_row(metric).better == Better::larger ? -1 : 1;
  const auto place = [&](const PricedPoint& point) {
    const double figure = sign * point.figure(metric);
    return std::tuple(!point.is_in_set, std::isnan(figure), std::isnan(figure) ? 0 : figure);
  };
  std::stable_sort(points.begin(), points.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return points;
}

} // namespace dt::store
