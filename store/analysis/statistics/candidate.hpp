// Candidate: a sample of runs under a name. Pure functions over numbers.
#pragma once

#include "store/analysis/statistics/comparison.hpp"
#include "store/analysis/statistics/confounding.hpp"

#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// A candidate and its runs: one value per run.
struct Candidate {
  std::string name;
  std::vector<double> values;
  // One per value: the round in which the run was measured. Runs of a round were measured about at the same time, one of each
  // candidate in random order, or one after the other in one allocation (a ladder). Empty, or with an empty text: the run was
  // measured alone.
  std::vector<std::string> blocks{};
  // One per value, or none: when and where its run was measured, as in Occasion.
  std::vector<double> begins_unix_s{};
  std::vector<std::set<std::string>> nodes{};
  bool is_exact = false; // its runs are deterministic (simulated): equal values are no chance
};

// What kind of numbers the values are, which decides how samples of them are compared (statistics/candidate_set.hpp).
enum class Scale {
  ratio,         // positive and finite: throughputs, step times
  difference,    // finite and possibly 0: accuracies
  time_to_target // positive; infinite for a run that missed the target
};

Confounded confounding_of(const Candidate& a, const Candidate& b);

// Whether a run missed its target.
bool has_miss(const Candidate& candidate);

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
