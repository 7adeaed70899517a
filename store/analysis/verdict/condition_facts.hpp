// What the conditions of the runs say beside a verdict: outliers, two speeds, a trend. Pure functions; cli/answers/verdict has
// the words.
#pragma once

#include "store/analysis/statistics/run_conditions.hpp"
#include "store/analysis/verdict/compared_points.hpp"

#include <optional>
#include <span>
#include <vector>

namespace dt::store {

// A run whose throughput does not count.
struct OutlyingRun {
  const ComparedPoint* point;
  std::int64_t repeat; // from 0
  double ratio;        // its throughput, divided by the geometric mean of the others of its point that are no outliers
};

// What is found among the succeeded, measured runs of the points, by their throughputs (statistics/run_conditions.hpp).
struct ConditionFacts {
  std::size_t runs = 0; // that were looked at
  std::vector<OutlyingRun> outliers{};
  std::optional<double> rounding_unit{}; // samples/s, of throughputs that were rounded (rounding_of)
  std::optional<Trend> trend{};          // the machine changed during the study
  bool in_rounds = true;                 // rounds keep that change out of the comparison
  std::optional<TwoSpeeds> speeds{};     // the runs fall into two groups; TwoSpeeds::point is an index of the points
};

// The points are of one study. Of simulated runs, outliers alone: no machine changes while they are computed.
ConditionFacts condition_facts(std::span<const ComparedPoint> points);

} // namespace dt::store
