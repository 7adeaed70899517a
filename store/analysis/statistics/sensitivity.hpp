// Sensitivity of a simulated result: its range when one assumed figure at a time is lower or higher. Pure functions.
#pragma once

#include "core/spec/point_label.hpp"
#include "store/analysis/statistics/scaling.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::store {

// The result with one figure lower and higher. NaN: there is no such run, because it has not succeeded or the figure cannot
// change.
struct FigureRange {
  std::string key; // "platform.bandwidth"
  double lower = not_measured, higher = not_measured;
};

// The result of a label's largest size: its speed-up, or its throughput in samples/s if the label has only one size.
struct Sensitivity {
  std::string label;
  std::int64_t size = 0;
  bool is_speedup = false;
  double share = 0;                 // by which each figure was varied
  double as_assumed = not_measured; // the result of the point itself
  double efficiency = not_measured, efficiency_least = not_measured, efficiency_most = not_measured;
  double least = not_measured, most = not_measured; // over all figures, the result as assumed included
  std::vector<FigureRange> figures{};               // that which moves the result most comes first
  std::vector<VariedFigure> missing{};              // variations of which a run has no result, each once
};

// `points`: of a study. `varied`: the rows of its runs that vary a figure, labelled as core/spec/point_label.hpp says. Points of
// which no figure was varied are left out. `without_result`: the variations of runs that have not succeeded.
std::vector<Sensitivity> sensitivities_of(std::span<const ScalingRow> points, std::span<const ScalingRow> varied,
                                          std::span<const VariedFigure> without_result);

} // namespace dt::store
