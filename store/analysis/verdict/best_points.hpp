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
  std::string name; // name_of the point
  std::size_t runs = 0, succeeded = 0;
  std::size_t reached = 0, with_target = 0;
  std::size_t diverged = 0;              // runs that count for neither
  std::map<Metric, double> figures;      // node-hours are those of one run
  std::string label{}, size{};           // ComparedPoint::candidate, and the size in words
  bool is_in_set = false;                // best_points marks it
  std::map<Metric, Candidate> samples{}; // the runs behind the figures
  double figure(Metric metric) const;    // NaN if it was not measured
};

// The two metrics that the Pareto set weighs for `metric`: `metric` itself and node-hours. Of node_hours and of energy: the time
// and that metric. The time is that to the target, or the throughput if no run has a target; of energy, which is that of a
// sample, it is the throughput.
struct Weighed {
  Metric first, second;
};
Weighed weighed_of(Metric metric, std::span<const PricedPoint> points);

// The points of a study with their figures.
std::vector<PricedPoint> priced_points(std::span<const ComparedPoint> points);

// Marks the Pareto set of weighed_of(metric), and sorts the points: the set before the others, each part by the metric, the best
// first; points that were not measured come last. A point one of whose metrics is infinite, because most runs missed the target,
// is in no set. A point that one of the set dominates by its figures is marked, too, unless one of these is measurably better by
// one of the two metrics: equals share the mark. Where nothing can be tested (fewer than `least_runs` runs, or sides that were
// not measured together), the figures decide.
std::vector<PricedPoint> best_points(std::vector<PricedPoint> points, Metric metric);

} // namespace dt::store
