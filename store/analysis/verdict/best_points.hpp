// The best points of a study by a metric and by what they cost: its Pareto set. Pure functions over numbers.
#pragma once

#include "store/analysis/statistics/ranking.hpp"
#include "store/analysis/verdict/compared_points.hpp"

#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// A point with its figures: geometric means over its succeeded runs. Of times and samples to the target the
// median if a run missed the target, which counts as infinite. NaN: not measured.
struct PricedPoint {
  std::string name;     // name_of the point
  std::size_t runs = 0; // succeeded runs
  std::size_t reached = 0, with_target = 0;
  std::size_t diverged = 0;           // runs that count for neither
  std::map<Metric, double> figures;   // node-hours are those of one run
  std::string label{}, size{};        // ComparedPoint::candidate, and the size in words
  bool is_in_set = false;             // no point is at least as good in both criteria and better in one
  double figure(Metric metric) const; // NaN if it was not measured
};

// The Pareto set compares node-hours with a second metric. Returns that one: `metric` itself; if it is node_hours, the time to
// target, or the throughput if no run has a target.
Metric partner_of(Metric metric, std::span<const PricedPoint> points);

// The points of a study with their figures.
std::vector<PricedPoint> priced_points(std::span<const ComparedPoint> points);

// Marks the Pareto set in the metric (for node_hours: its partner) and node-hours, and sorts the points: the set before the
// others, each part by the metric, the best first; points that were not measured come last. A point whose metric is
// infinite, because most runs missed the target, is in no set.
std::vector<PricedPoint> best_points(std::vector<PricedPoint> points, Metric metric);

} // namespace dt::store
