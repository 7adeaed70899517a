// How far studies of the same work lie apart by chance, and comparisons across studies that allow for it. Pure functions over
// numbers.
//
// The runs of one study share the hour, the nodes, and what else used them. Their scatter does not hold what changes from one
// study to the next, so an interval of two studies that is made of their runs alone is too narrow. The model is one of random
// effects: the mean of a study is that of its work, plus an effect of the study, plus the mean error of its runs.
#pragma once

#include "store/analysis/statistics/comparison.hpp"

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// What one study measured of some work: moments of the logarithms of its runs, one value a run.
struct StudyMean {
  std::string study;
  Moments moments;
};

// The same work, by the same program on the same kind of machine, in several studies.
using RepeatedWork = std::vector<StudyMean>;

// What the studies of some works have in common with two that are compared.
struct Repetitions {
  std::vector<RepeatedWork> works{};
  double longest_s = 0;      // the longest time between two studies of one work
  std::size_t host_sets = 0; // different sets of hosts on which the studies ran
};

// Minimum number of studies of the same work, less the number of works that share no study, for an estimate.
inline constexpr double least_between_freedom = 2;

struct BetweenStudies {
  // Variance of the mean of one study of `runs` runs around that of its work; holds the scatter between studies and that of the
  // runs. NaN: too few studies are known (least_between_freedom).
  double variance = std::numeric_limits<double>::quiet_NaN();
  double freedom = 0;      // degrees of freedom of `variance`
  double runs = 0;         // harmonic mean of the number of runs of a study
  double within = 0;       // variance of one run within a study
  std::size_t studies = 0; // that the estimate is made of

  bool is_known() const { return variance >= 0; }
  // Standard deviation of the mean of a study: 0.02 is 2 %.
  double deviation() const;
};

// The variance of the means of the works' studies, pooled over the works. Its degrees of freedom are the number of studies less
// one; works that have no study in common add up. Works of fewer than two studies tell nothing.
BetweenStudies between_studies_of(std::span<const RepeatedWork> works);

// The comparison of two studies, with an interval that holds the effects of both. With the variance v of a study's mean (and, of
// a study of fewer runs n than the others had, the part of its runs' scatter that v lacks, within (1/n - 1/runs)):
//
//   ln(effect) ± t((1 + level)/2, freedom) sqrt(v_A + v_B)
//
// but at no side less than the comparison's own interval. p is the larger one, and the verdict that of the new interval. Where
// the works are studies A and B themselves among others, the interval is rather too wide. Throws Error (internal) unless the
// comparison's method is `ratio` and the scatter between studies is known. Without an interval the comparison stays as it is.
Comparison across_studies(Comparison comparison, const BetweenStudies& between);

} // namespace dt::store
