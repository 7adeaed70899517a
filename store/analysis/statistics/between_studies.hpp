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

// What the studies of some works have in common with two that are compared. Without the study that is judged: it would hide
// behind its own distance from the others.
struct Repetitions {
  std::vector<RepeatedWork> works{}; // the last one is that of B
  double longest_s = 0;              // the longest time between two studies of one work
  std::size_t host_sets = 0;         // different sets of hosts on which the studies ran
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

// A gate for a new study A: the other studies of the reference's work, of which the reference is one.
struct Gate {
  BetweenStudies between{};
  double mean = std::numeric_limits<double>::quiet_NaN(); // of their means, which are logarithms
  double studies = 0;
  bool is_known() const { return between.is_known() && studies >= 1; }
};
Gate gate_of(const Repetitions& repetitions);

// The comparison of A with the mean of the k studies of the gate, as a further one of them [prediction interval]: with the
// variance v of a study's mean, and more if A has fewer runs than they or scatters more,
//
//   ln(effect) = A's mean - their mean,   ± t((1 + level)/2, freedom) sqrt(v (1 + 1/k) + …)
//
// The level is that of the rule; it is 98 % where a verdict `worse` by more than the margin would otherwise be wrong in more than
// 1 % of the cases in which nothing has changed. Of fewer than 3 runs of A, too. Conditions and errors as of across_studies.
Comparison against_gate(Comparison comparison, const Gate& gate);

// The probability that against_gate, with as many runs of A and the level of this comparison, shows a worse A beyond the margin
// if the truth is this share of the mean of the gate's studies (0.9: 10 % lower), and their scatter is what it seems.
double power_of(const Gate& gate, const Comparison& comparison, double share);

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
