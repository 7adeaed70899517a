#include "store/analysis/verdict/best_points.hpp"

#include "store/analysis/statistics/candidate_set.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

namespace dt::store {
namespace {

PricedPoint priced(const ComparedPoint& point)
{
  PricedPoint all{.name = name_of(point), .figures = {}, .label = point.candidate, .size = size_text(point.nodes, point.ranks)};
  for (const auto& row : metric_rows()) {
    auto sample = sample_of("", point.runs, row.metric);
    all.figures[row.metric] = centre_of(sample.candidate, row.scale);
    all.runs = sample.runs; // these are the same for every metric
    all.succeeded = sample.succeeded;
    all.reached = sample.reached;
    all.with_target = sample.with_target;
    all.diverged = sample.diverged;
    all.samples[row.metric] = std::move(sample.candidate);
  }
  return all;
}

// Compares points by one metric.
class MetricComparison {
 public:
  MetricComparison(std::span<const PricedPoint> points, Metric metric) : row_(metric_row(metric))
  {
    for (const auto& point : points) {
      const auto found = point.samples.find(metric);
      candidates_.push_back(found == point.samples.end() ? Candidate{} : found->second);
      figures_.push_back(point.figure(metric));
    }
    set_.emplace(candidates_, row_.scale);
  }
  MetricComparison(const MetricComparison&) = delete;
  MetricComparison& operator=(const MetricComparison&) = delete;

  // Whether point a is better, and these runs can tell; where no runs can, by its figure.
  bool is_better(std::size_t a, std::size_t b) const
  {
    const bool has_better_figure = row_.better == Better::larger ? figures_[a] > figures_[b] : figures_[a] < figures_[b];
    if (!has_better_figure || candidates_[a].values.empty() || candidates_[b].values.empty()) return has_better_figure;
    const auto comparison = set_->compare(a, b, {.better = row_.better});
    const bool is_tested = comparison.design == Design::exact || comparison.has_no_scatter || !std::isnan(comparison.p);
    return !is_tested || comparison.verdict == Verdict::faster;
  }

 private:
  const MetricRow& row_;
  std::vector<Candidate> candidates_;
  std::vector<double> figures_;
  std::optional<CandidateSet> set_;
};

bool dominates(const Criteria& a, const Criteria& b, Better first, Better second)
{
  const auto is_as_good = [](double one, double other, Better better) {
    return better == Better::larger ? one >= other : one <= other;
  };
  return is_as_good(a.first, b.first, first) && is_as_good(a.second, b.second, second);
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
  const auto better_first = metric_row(first).better, better_second = metric_row(second).better;
  const auto set = pareto_set(criteria, better_first, better_second);
  const MetricComparison by_first(points, first), by_second(points, second);
  const auto is_behind = [&](std::size_t point) {
    return std::ranges::any_of(set, [&](std::size_t best) {
      return dominates(criteria[best], criteria[point], better_first, better_second) &&
             (by_first.is_better(best, point) || by_second.is_better(best, point));
    });
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool has_both = std::isfinite(criteria[i].first) && std::isfinite(criteria[i].second);
    points[i].is_in_set = has_both && !is_behind(i);
  }
  const double sign = metric_row(metric).better == Better::larger ? -1 : 1;
  const auto place = [&](const PricedPoint& point) {
    const double figure = sign * point.figure(metric);
    return std::tuple(!point.is_in_set, std::isnan(figure), std::isnan(figure) ? 0 : figure);
  };
  std::stable_sort(points.begin(), points.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return points;
}

} // namespace dt::store
