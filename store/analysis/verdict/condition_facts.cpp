#include "store/analysis/verdict/condition_facts.hpp"

#include "store/analysis/statistics/welch.hpp"

#include <algorithm>
#include <cmath>

namespace dt::store {
namespace {

bool is_looked_at(const Run& run) { return run.succeeded && !run.is_control && !run.is_exact && run.throughput > 0; }

// By the other runs of the point that count.
OutlyingRun outlying_run(const ComparedPoint& point, const Run& outlier)
{
  std::vector<double> others;
  for (const auto& run : point.runs)
    if (is_looked_at(run) && !run.is_outlying) others.push_back(run.throughput);
  return {&point, outlier.repeat, outlier.throughput / std::exp(log_moments(others).mean)};
}

} // namespace

ConditionFacts condition_facts(std::span<const ComparedPoint> points)
{
  ConditionFacts facts;
  std::vector<SpeedRun> speeds;
  std::vector<bool> outlying;
  bool is_simulated = true;
  for (std::size_t point = 0; point < points.size(); ++point)
    for (const auto& run : points[point].runs) {
      if (!is_looked_at(run)) continue;
      speeds.push_back({point, run.repeat, run.begin_unix_s, run.throughput});
      outlying.push_back(run.is_outlying);
      if (run.is_outlying) facts.outliers.push_back(outlying_run(points[point], run));
      facts.in_rounds = facts.in_rounds && !run.block.empty();
      // Those of a round share their seed, so a round of simulated runs may be faster than another.
      is_simulated = is_simulated && !run.platform.empty();
    }
  facts.runs = speeds.size();
  if (is_simulated) return facts;
  facts.rounding_unit = rounding_of(speeds);
  facts.trend = trend_of(speeds, outlying);
  if (!facts.trend) facts.speeds = two_speeds_of(speeds, outlying);
  return facts;
}

} // namespace dt::store
