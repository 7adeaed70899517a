// Intervals of the differences between candidates that were measured in the same rounds, each with one run of every candidate.
// What changes from round to round, such as the speed of the machine, cancels out. Pure functions over numbers.
#pragma once

#include "store/analysis/statistics/welch.hpp"

#include <cstddef>
#include <vector>

namespace dt::store {

class Rounds {
 public:
  // The values by candidate and round, on a scale on which candidates differ by a sum: logarithms of throughputs. NaN: the
  // candidate has no value in that round. Candidates may end at different rounds.
  explicit Rounds(std::vector<std::vector<double>> values);

  // The confidence interval of a - b; both bounds are NaN with fewer than `least_runs` rounds that have both.
  //
  // With the mean m and the variance v of the n differences within rounds, and the mean u of v over all pairs of candidates, it
  // is m ± t(f) sqrt(V / n):
  //
  //   V = max(u, w v + (1 - w) u),  1/f = w/(n - 1) + (1 - w)/f_u
  //   w = h / (h + 2 (1 + h)/(n - 1)),  h = 2 c² + 0.2 / (number of pairs)
  //
  // u is twice the residual mean square of the table of candidates and rounds, with f_u = (candidates - 1)(rounds - 1) degrees of
  // freedom if no value is missing: many more than v has, so that few rounds suffice where all candidates scatter alike. w is the
  // credibility of v [Buhlmann1967] and c the coefficient of variation of the pairs' true variances, estimated from how much
  // more the v differ than equal variances would. Factor and addend make up for the noise of that estimate: with them
  // bench_statistics finds no more errors than promised, whichever candidates scatter more (docs/benchmarks.md).
  //
  // Of two candidates u is v, and this is the paired t test. Where rounds do not differ, pairs waste half of the degrees of
  // freedom, so the interval is then the narrower one of the paired and of Welch's test, each with half of the error.
  Interval difference(std::size_t a, std::size_t b, double level) const;

 private:
  Moments differences(std::size_t a, std::size_t b) const;
  Estimate estimate(std::size_t a, std::size_t b) const;
  double freedom() const;

  std::vector<std::vector<double>> values_;
  double variance_ = 0, freedom_ = 0; // u and f_u
  double heterogeneity_ = 0;          // h
};

} // namespace dt::store
