// Candidate: a sample of runs under a name, and the comparison that fits the scale of its values. Pure functions over numbers.
#pragma once

#include "store/analysis/statistics/comparison.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::store {

// A candidate and its runs: one value per run.
struct Candidate {
  std::string name;
  std::vector<double> values;
  // One per value: runs with the same text were measured one after the other in one allocation, so that they can be compared as
  // pairs. Empty, or with an empty text: the run was measured alone.
  std::vector<std::string> blocks{};
};

// What kind of numbers the values are, which decides how samples of them are compared.
enum class Scale {
  ratio,         // positive and finite: throughputs, step times
  difference,    // finite and possibly 0: accuracies
  time_to_target // positive; infinite for a run that missed the target
};

// Compares A with B:
//
//   difference                        compare_means
//   time_to_target with a miss        the rank test of compare_times_to_target
//   every run is in a block, and at
//   least `least_runs` blocks have
//   runs of both                      compare_paired; a block's value is the geometric mean of its runs
//   all others                        compare_ratio
//
// Of times, smaller ones are better, whatever rule.better says. Throws Error (internal) for a value that the scale does not have.
Comparison compare_candidates(const Candidate& a, const Candidate& b, Scale scale, Rule rule);

// The number of blocks that have runs of both.
std::size_t common_blocks(const Candidate& a, const Candidate& b);

// Where the values lie: the geometric mean, of `difference` the mean, of `time_to_target` with a miss the median with misses as
// infinite. NaN without values.
double centre_of(const Candidate& candidate, Scale scale);

// How many more repeats would decide a comparison of A with B that cannot tell. As more_repeats, and for a rank test: the number
// with which it would decide if the further runs repeated those of A and of B in turn, up to 20; `known` is then false only if
// A or B has no run.
MoreRepeats more_repeats(const Comparison& comparison, const Candidate& a, const Candidate& b);

// The scatter of a run, from the samples of several candidates that are assumed to scatter alike.
struct Scatter {
  double cv = std::numeric_limits<double>::quiet_NaN(); // as in resolvable_difference; NaN if no candidate has two values
  double freedom = 0;                                   // degrees of freedom
};
// Pools the variances of the logarithms (`difference`: of the values). Misses do not count.
Scatter pooled_scatter(std::span<const Candidate> candidates, Scale scale);

} // namespace dt::store
