// Ranks several candidates: which of them may be the best, and which are dominated by none in two criteria. Pure functions over
// numbers.
#pragma once

#include "core/spec/metrics.hpp"
#include "store/analysis/statistics/candidate_set.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// Adjusts the p values of pairs, two hypotheses for each pair: that A and B do not differ, and that they differ by more than the
// margin. At most one of them is true, so if r pairs still have a hypothesis that is not rejected, at most r hypotheses are true:
// in ascending order, each p value is multiplied by that r [Shaffer1986], and no adjusted value is below one before it. Without
// the second hypothesis (NaN) this is Holm's correction [Holm1979]. It keeps the probability of any false rejection at or below
// the level, however the tests depend on each other. A NaN (nothing was tested) stays NaN and does not count.
std::vector<PairOfP> adjusted_pairs(std::span<const PairOfP> pairs);

// What is known about a candidate.
enum class Rank {
  best,       // every other candidate is behind
  equivalent, // one of several that are not behind and are all equivalent within the margin
  open,       // may be the best
  behind,     // another candidate is better, and not equivalent
  unknown,    // it has no run
};

struct Ranked {
  std::string name;
  std::size_t candidate = 0;                                // its index in `candidates`
  double centre = std::numeric_limits<double>::quiet_NaN(); // centre_of its values: NaN without runs
  // This candidate (A) with the first of the ranking (B), by CandidateSet. Its interval, p and verdict are those of this
  // one comparison, not adjusted. None for the first, and if either has no run.
  std::optional<Comparison> with_best{};
  // The p value of with_best, corrected for all pairs of candidates. 1 for the first; NaN if it or the first has fewer than
  // `least_runs` runs, or if both are deterministic.
  double adjusted_p = 1;
  Rank rank = Rank::open;
  // Rank::behind: the first candidate in the ranking that is better than this one with an adjusted p value of at most 1 - level
  // and not equivalent to it, and the place of that candidate. Only candidates with at least `least_runs` runs exclude others or
  // are excluded, except by the rank test and among deterministic ones.
  std::string excluded_by{};
  std::optional<std::size_t> excluder{};
};

// Candidates that compete by one metric.
struct Contestants {
  std::span<const Candidate> candidates;
  Rule rule;
  Scale scale = Scale::ratio;
  // Contests of one metric are taken for sizes of one study, whose scatter is judged together (RoundModel::judge_with).
  Metric metric = Metric::throughput;
};

// For each of the contests, its candidates in the order of their centres (centre_of), the best first; those without runs come
// last; ties keep the order of `candidates`.
//
// The best is chosen after a look at the runs, so its comparisons with the others are not k - 1 comparisons that were fixed in
// advance: among equal candidates the luckiest one would beat another far too often. The p values are therefore adjusted for all
// k (k - 1)/2 pairs of all contests together (error rates: docs/benchmarks.md). Then the probability that any candidate is
// behind one that is not better, or equivalent to one that it is not equivalent to, is at most 1 - level over all contests
// together, and so is the probability that the candidates that are not behind lack the best.
// If a contest has more than 500 candidates with enough runs, each is compared only with the first 20 of its ranking, and its p
// value is multiplied by the number of all pairs (Bonferroni's correction). That keeps both probabilities and costs time in
// proportion to the candidates, but may exclude fewer of them. Throws Error (internal) if a candidate has a value that the scale
// does not have.
std::vector<std::vector<Ranked>> rankings(std::span<const Contestants> contests);

// Of one contest.
std::vector<Ranked> ranking(std::span<const Candidate> candidates, Rule rule, Scale scale = Scale::ratio);

// Two criteria of one candidate, for example time to the target and node-hours. A value may be infinite.
struct Criteria {
  double first, second;
};

// The indices of the points that no other point dominates, ascending. A point dominates another if it is at least as good in both
// criteria and better in one; so equal points are in the set together. A point with a NaN is not in the set and dominates none.
std::vector<std::size_t> pareto_set(std::span<const Criteria> points, Better first, Better second);

} // namespace dt::store
