// Compares two samples of runs: effect, confidence interval and a verdict. Pure functions over numbers.
//
// One value per run: steps of one run are not independent of each other, so a run counts once.
#pragma once

#include "store/analysis/statistics/welch.hpp"

#include <cstddef>
#include <limits>
#include <span>

namespace dt::store {

// What is known about A relative to B. For accuracies, `faster` means better and `slower` means worse.
enum class Verdict { faster, slower, equivalent, cannot_tell };

// Which values are better: larger ones (throughput, accuracy) or smaller ones (times).
enum class Better { larger, smaller };

// What a comparison has to decide. It must be fixed before the runs are seen, or its error rate does not hold.
struct Rule {
  // Confidence level, between 0 and 1. About 1 - level of all comparisons of equals end in faster or slower; docs/validation.md
  // has the measured shares (3.6 to 5.6 % at 95 %).
  double level = 0.95;
  // The largest difference that does not matter, at least 0. Of ratios: 0.02 is the band from 1/1.02 to 1.02, which is the same
  // for A/B and B/A. Of differences: the band from -0.02 to 0.02, in the unit of the values.
  double margin = 0;
  Better better = Better::larger;
  // Comparisons that are looked at together, at least 1, this one included. Bonferroni's correction: p values are multiplied by
  // it, and the intervals of all of them together contain the truth with the probability `level`.
  double comparisons = 1;
};

// The level of an interval of one of the comparisons.
inline double level_of_one(const Rule& rule) { return 1 - (1 - rule.level) / rule.comparisons; }

// The verdict that an interval of the ratio A/B allows. The first of these rules that applies decides:
//
//   equivalent   the whole interval, ends included, lies in the band from 1/(1 + margin) to 1 + margin
//   faster       the whole interval lies on the better side of 1, 1 excluded: above it if larger values are better, else below
//   slower       the whole interval lies on the other side of 1
//   cannot_tell  the interval contains 1 and leaves the band; also if a bound is NaN
//
// So an interval inside the band is equivalent even if it excludes 1, and `faster` says that A is faster, not that it is faster
// by more than the margin.
Verdict verdict_of_ratio(Interval ratio, double margin, Better better);

// The same for an interval of the difference A - B: 0 takes the place of 1, and the band goes from -margin to margin.
Verdict verdict_of_difference(Interval difference, double margin, Better better);

enum class Method {
  ratio,      // of geometric means: Student's or Welch's t on logarithms
  difference, // of means: the same on the values
  ranks,      // Mann and Whitney's exact test, for times of which some are infinite
};

// How the runs of A and B were measured, and so where the error of the effect comes from.
enum class Design {
  independent, // each run counts for itself
  paired,      // the differences within rounds count
  pooled,      // the same, with the scatter of all candidates that were measured in these rounds (round_model.hpp)
  exact,       // deterministic runs, which have no scatter
};

// The scatter of a run around its candidate and its round: variance on the scale that is compared, degrees of freedom of its
// estimate, and degrees of freedom that one more round adds.
struct WithinRounds {
  double variance = std::numeric_limits<double>::quiet_NaN(), freedom = 0, freedom_per_round = 0;
  double price = 1; // p values are multiplied by it, and the error of an interval is divided by it
};

// Standard deviations below this are the rounding of floating point numbers: runs that scatter less do not scatter. Logarithms
// of values near 1e6 are rounded to 2e-15.
inline constexpr double least_scatter = 1e-10;

// The mean of differences within rounds, if so many more rounds left their mean and the scatter as they are: standard error
// sqrt(2 variance / rounds).
Estimate difference_within(const Moments& differences, const WithinRounds& within, double more_rounds);

// The comparison of A with B.
struct Comparison {
  Method method = Method::ratio;
  Design design = Design::independent;
  Rule rule;
  std::size_t runs_a = 0, runs_b = 0; // compared runs; if rounds are compared, both are the number of common rounds
  std::size_t left_out = 0;           // rounds without a value of A, of B or of both
  // A/B, the ratio of geometric means; `difference`: A - B of the means; `ranks`: the ratio of medians, which is 0, infinite or
  // NaN if the median of A, B or both is infinite.
  double effect = std::numeric_limits<double>::quiet_NaN();
  // Of the effect. NaN with fewer than `least_runs` runs of A or B (or common rounds), if nothing scatters, and always if the
  // method is `ranks`.
  Interval interval{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  double p = std::numeric_limits<double>::quiet_NaN(); // two-sided, of no difference, corrected; NaN where the interval is, but
                                                       // for `ranks`
  double smallest_p = 0;                               // `ranks`: no outcome with these sizes and ties could have had a smaller p
  // The smallest difference that so many runs with such a scatter could resolve (resolvable_difference); NaN if the method is
  // `ranks`.
  double resolvable = std::numeric_limits<double>::quiet_NaN();
  // There are enough runs, and all runs of A are equal, and all of B. Unless the design is exact, that is no certainty: the
  // figures are rounded, or do not measure anything. The verdict is then cannot_tell.
  bool has_no_scatter = false;
  Verdict verdict = Verdict::cannot_tell;
  // Moments of what was compared: of logarithms, or of values if the method is `difference`. Within rounds: `a` are those of the
  // differences, and `b` is not used. `ranks`: neither is used.
  Moments a{}, b{};
  WithinRounds within{}; // Design::paired and pooled
};

// Compares independent samples of positive, finite values (throughputs or times) by the ratio of their geometric means. Its
// interval is Welch's for the difference of the means of the logarithms (difference_of_means in welch.hpp), raised to the
// exponential. Throws Error (internal) if a value is not positive and finite.
Comparison compare_ratio(std::span<const double> a, std::span<const double> b, const Rule& rule);

// Compares by these moments on the scale of the method: of A and B, or within rounds of the differences (`a`; `b` is not used),
// with this scatter.
Comparison compare_moments(Method method, Design design, const Moments& a, const Moments& b, const WithinRounds& within,
                           const Rule& rule);

// Compares deterministic values, such as simulated times, by the effect alone: no interval, no p value. `ratio`: both are
// positive.
Comparison compare_exact(Method method, double a, double b, const Rule& rule);

// The p values of a comparison: of no difference, and of a difference beyond the margin (the larger one-sided p value of the two
// bounds, doubled, so that it is at most 1 - level exactly if the interval lies in the band). NaN without a standard error, or,
// of the second, with a margin of 0.
struct PairOfP {
  double difference, beyond_margin;
};
PairOfP p_values_of(const Estimate& estimate, Method method, double margin, double price = 1);

// Compares values that were measured in the same blocks (for example, one allocation each): entry i of `a` and of `b` belong to
// block i, and NaN stands for a missing run. Only whole blocks count. What differs from block to block, such as a drift of the
// machine, cancels out. Throws Error (internal) if the lengths differ or a value is neither NaN nor positive and finite.
Comparison compare_paired(std::span<const double> a, std::span<const double> b, const Rule& rule);

// Compares independent samples by the difference of their means, without logarithms: for accuracies, which may be 0. Margin,
// effect, interval and resolvable difference have the unit of the values. Throws Error (internal) if a value is not finite.
Comparison compare_means(std::span<const double> a, std::span<const double> b, const Rule& rule);

// Compares times to a target; infinity stands for a run that missed the target. Smaller times are better, whatever rule.better
// says.
//
// If every run of A and B reached the target, this is compare_ratio. Otherwise it is the exact test of Mann and Whitney
// (rank_test.hpp), in which all misses are equal and later than any time: a mean over the runs that reached the target would
// prefer what fails often. The verdict is then faster or slower if p <= 1 - level, in the direction of the mean ranks; else
// cannot_tell. The margin has no part in it, and there is no `equivalent`, because there is no interval. If smallest_p is above
// 1 - level, so few runs could not have decided (3 against 3: smallest_p is at least 0.1).
//
// Choosing the test after a look at the misses does not raise the error rate: if A and B are equal, the number of misses of both
// together tells nothing about which of them is better, and either test keeps its level.
//
// Throws Error (internal) if a time is not positive or is NaN.
Comparison compare_times_to_target(std::span<const double> a, std::span<const double> b, Rule rule);

// The smallest difference that can be resolved, t((1 + level)/2, freedom) sqrt(1/runs_a + 1/runs_b) cv; with n runs on each side
// the root is sqrt(2/n). It is half the length of the interval, so a true difference of this size is found in about half of all
// studies. `cv` is the standard deviation of one run's natural logarithm, which is about the coefficient of variation; then the
// result is a share of the values (0.03 is 3 %). `freedom` is the degrees of freedom that cv was estimated with. NaN if cv is
// NaN, freedom is below 1 or a side has no run.
//
// In a Comparison, cv comes from the compared runs themselves: the square root of both samples' pooled variance of logarithms,
// with n_a + n_b - 2 degrees of freedom (`difference`: of the values). So it assumes, unlike the interval, that both scatter
// alike. With one run of A and one of B nothing is known about the scatter: NaN. With one run of A alone, cv is the scatter of B.
// Within rounds: cv is the square root of within.variance, with within.freedom; NaN with one round.
// A caller that knows the scatter from elsewhere, for example from all repeats of a study, calls this function itself.
double resolvable_difference(double cv, double freedom, double runs_a, double runs_b, double level);

// How many more runs would decide a comparison that cannot tell.
struct MoreRepeats {
  // False: no estimate. There are no two runs of A or B (or common rounds), nothing scatters, or the method is `ranks`.
  bool known = false;
  bool decides = false;     // false: not even `most` more runs on each side would decide
  std::size_t per_side = 0; // more runs of A, and as many of B; within rounds: more rounds
};

// The smallest number of more runs on each side with which the verdict would not be cannot_tell, if the effect and the scatter
// stay as they were observed. 0 if the verdict is another one already. It is an estimate for the budget, not a promise: if the
// true effect is the observed one, about half of all studies decide by then. A sample of one run is taken to scatter as the other
// one does. Tries each number up to `most`.
MoreRepeats more_repeats(const Comparison& comparison, std::size_t most = 1000);

// Whether A is a regression from the reference B: true only if the whole interval lies beyond the margin on the bad side, that is
// wholly below 1/(1 + margin) (differences: below -margin) if larger values are better, and wholly above 1 + margin (margin)
// otherwise. False without an interval.
bool is_regression(const Comparison& comparison);

} // namespace dt::store
