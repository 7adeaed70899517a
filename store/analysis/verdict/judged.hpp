// Two points compared by one metric, and what the comparison has found. Pure functions; cli/answers/verdict has the words.
#pragma once

#include "store/analysis/verdict/limit.hpp"

#include <limits>
#include <string>

namespace dt::store {

// The margin of verdicts for which no other one is asked (Rule::margin).
inline constexpr double usual_margin = 0.02;

// The comparison of the samples A and B by one metric.
struct Judged {
  std::string name; // of what is compared: a point
  Metric metric = Metric::throughput;
  Sample a, b;
  // Its verdict is cannot_tell, and its effect is NaN, if A or B has no value.
  Comparison comparison{};
  // The smallest difference that so many runs can resolve. With fewer than `least_runs` runs on a side, from the scatter of all
  // samples of the study; NaN if nothing is known about it.
  double resolvable = std::numeric_limits<double>::quiet_NaN();
  MoreRepeats more{};                                                // as more_repeats
  double more_node_hours = std::numeric_limits<double>::quiet_NaN(); // of these repeats, of A and of B together
  std::string title{};                                               // the name as it is shown; empty: the name
  Limit limit{};                                                     // if it is set, the verdict is cannot_tell
  Verdict of_runs = Verdict::cannot_tell;                            // with a limit: the verdict of these runs alone
  BetweenStudies between{};                                          // if it is known, the interval holds it
  Gate gate{};                                                       // if it is known, A is compared with its mean
  bool is_same = false;                                              // A and B are the same runs: the verdict is equivalent
};

// `scatter`: of all samples that the study has, for comparisons with too few runs.
Judged judge(std::string name, Metric metric, Sample a, Sample b, const Rule& rule, const Scatter& scatter);

// The same of sides that were measured apart (apart_of): with the scatter between studies in its interval, or limited. Metrics
// that do not depend on the machine, and deterministic runs, stay as they are.
Judged across_studies(Judged judged, const Apart& apart);

// The same of sides that hold the same measurements, as of a commit that changes nothing of the runs: nothing has changed.
Judged of_same_runs(Judged judged);

// Whether A is a regression from the reference B: is_regression, and by the rank test (times to target with misses) a verdict
// `slower`, because a rank test has no interval.
bool is_regression(const Judged& judged);

// Whether the effect is worse than this share (0.2: a throughput below 80 %, a time above 120 %), whatever its error; of
// accuracies, of points. False without an effect, and for a share of NaN.
bool is_worse_by(const Judged& judged, double share);

bool has_data(const Judged& judged);
// Whether there are enough runs for an interval or the rank test, or the values are deterministic.
bool is_decidable(const Judged& judged);

// What a comparison has found about A.
enum class Finding {
  faster, // of a metric that is no speed: better
  slower, // or worse
  equivalent,
  same_runs,               // A and B are the same runs
  different_in_these_runs, // of sides that were measured apart
  alike_in_these_runs,
  for_this_seed, // whatever was found, it holds for one seed
  cannot_tell,
  no_data // A or B has no value, which is not the same as values that do not decide
};
Finding finding_of(const Judged& judged);
Finding finding_of(Verdict verdict); // of runs without a limit

// Why a sample has no value.
enum class NoValue {
  has_values,
  none_succeeded,
  all_diverged, // of a metric of the training
  copies,       // its ranks do not train together
  not_recorded
};
NoValue why_no_value(const Sample& sample, Metric metric);

} // namespace dt::store
