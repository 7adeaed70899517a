// What a scaling study has found. Pure functions; cli/answers/verdict has the words.
#pragma once

#include "store/analysis/statistics/scaling.hpp"

#include <span>
#include <vector>

namespace dt::store {

// The largest point whose ranks do not train together; null if there is none.
const ScalingRow* copies_among(std::span<const ScalingRow> points);

// Whether a program scales at all, by the points of a scaling study.
enum class Scales { yes, no, cannot_tell, not_known }; // not_known: nothing was compared
struct ScaleAnswer {
  Scales answer = Scales::not_known;
  const ScalingRow* best = nullptr;    // the point with the largest speed-up, above its baseline; null: not known, or copies
  const ScalingRow* largest = nullptr; // the point with the largest size of those
  const ScalingRow* copies = nullptr;  // copies_among: it does not scale, whatever the other points say
  // Whether the best one's interval contains the speed of its baseline.
  bool is_within_error = false;
};
ScaleAnswer scale_answer(std::span<const ScalingRow> points);

// Where the interval of a ratio lies. A bound that is printed as 1 counts as 1, so that words never contradict the figures beside
// them.
enum class Side { unknown, below, alike, above };
// The efficiency against 100 %; of parts against the throughput of the fewest.
Side against_ideal(const ScalingRow& point);
// The efficiency at points[point] against that at points[other].
Side against_point(std::span<const ScalingRow> points, std::size_t point, std::size_t other);

// Sizes with fewer than `least_runs` runs, whose efficiency has no interval.
struct MissingRepeats {
  bool are_missing = false;
  bool has_outliers = false;               // some runs do not count
  double resolvable = not_measured;        // the smallest difference that so few runs could resolve
  std::vector<const ScalingRow*> beyond{}; // points without an interval that differ from the ideal by more
};
MissingRepeats missing_repeats(std::span<const ScalingRow> points);

} // namespace dt::store
