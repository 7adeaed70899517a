// Verdicts in words: what a comparison, a ranking or a scaling study says, and what would decide where it says nothing.
#pragma once

#include "store/analysis/statistics/ranking.hpp"
#include "store/analysis/statistics/scaling.hpp"
#include "store/analysis/verdict/compared_points.hpp"
#include "store/analysis/verdict/limit.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

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

// The verdict as one word or a few: "faster", "slower", "equivalent", "cannot tell". Of a metric that is no speed: "better" and
// "worse".
std::string word_of(Verdict verdict, Metric metric);
// The same of a comparison; "no data" if A or B has no value, which is not the same as values that do not decide. With a limit
// "for this one seed", or of sides that were measured apart "different in these runs" and "alike in these runs".
std::string word_of(const Judged& judged);
bool has_data(const Judged& judged);
// Returns "+4.5 %" for the effect 1.045; of accuracies, "+1.20 points" for 0.012. Empty if it is NaN, infinite,
// or a ratio of 0, which a median has to one that is infinite.
std::string effect_text(double effect, Metric metric);
// Returns "[+2.1, +6.9]"; empty if there is no interval.
std::string interval_text(const Comparison& comparison, Metric metric);

// Returns what the comparison says about A and B in one sentence, without a full stop. If it cannot tell, says why and what would
// decide: "cannot tell: -1.2 % [-4.0, +1.7] throughput; about 5 more runs of each would decide (0.04 node-hours)". If A or B has
// no value: "no data: no run of A has succeeded".
std::string sentence_of(const Judged& judged);

// A ranking of candidates of one size by one metric, with its samples in the order of the ranking.
struct Standing {
  std::string contest; // "2 ranks"
  Metric metric = Metric::throughput;
  std::vector<Ranked> ranked;
  std::vector<Sample> samples;
  Scatter scatter;
  Rule rule;
  std::string title{}; // the contest as it is shown; empty: its name
  Limit limit{};       // if it is set, no candidate is behind
};
Standing standing_of(std::string contest, Metric metric, std::vector<Sample> samples, const Rule& rule);
// The rankings of each contest's points by each metric, in this order. Their p values are adjusted together, because one verdict
// is made of them. A point without a label has the name of its size.
std::vector<Standing> standings_of(std::span<const Contest> contests, std::span<const Metric> metrics, const Rule& rule);

// The indices of the candidates that may be the best: those that have runs and are not behind another one.
std::vector<std::size_t> may_be_best(const Standing& standing);
// The name of the candidate at this place, as it is shown.
std::string shown_name(const Standing& standing, std::size_t place);
// Returns which candidate is the best, by how much and how certain, and which others may be the best, in one sentence.
std::string sentence_of(const Standing& standing);

// The verdict of a study in parts. No part ends with a full stop.
struct VerdictText {
  std::string headline;               // what decides
  std::vector<std::string> remarks{}; // what else is known and what limits it, each as part of a sentence
  std::vector<std::string> lines{};   // at most one for each other candidate or size
};
// The headline, the lines and the remarks, one after the other: a text of its own for each.
std::vector<std::string> sentences_of(const VerdictText& text);
// The headline and the remarks in one sentence.
std::string sentence_of(const VerdictText& text);

// The same as sentence_of, in parts.
VerdictText verdict_text(const Standing& standing);

// Of the candidates of one contest. By the last of the standings first (the time to target, if there is one); then the others;
// then who reached the target, and the `facts` that bear on all of it, such as a busy machine, each as part of a sentence. Where
// the best is not known, a line for each candidate that may be it.
VerdictText verdict_text(std::span<const Standing> standings, std::span<const std::string> facts);

// Whether a program scales at all, by the points of a scaling study.
struct ScaleAnswer {
  std::string word;                 // "yes", "no", "cannot tell", or "not known": nothing was compared
  std::string text;                 // the word and the reason, without a full stop: "yes: 1.76x on 2 ranks"
  const ScalingRow* best = nullptr; // the point with the largest speed-up, above its baseline; null: not known
};
ScaleAnswer scale_answer(std::span<const ScalingRow> points);

// Of the points of one label: speed-up and efficiency of the largest size, and whether the efficiency differs from 100 % and from
// that of the next smaller size; a line for each smaller size. Says what is missing if there is one size, or fewer than
// `least_runs` runs. If the ranks of a size do not train together, that is the headline.
VerdictText scaling_verdict(std::span<const ScalingRow> points, std::span<const std::string> facts);

} // namespace dt::store
