// What a mean hides: outlying runs, a machine with two speeds, a machine that becomes faster or slower during a study, and
// whether the runs were measured in rounds. Pure functions over the throughputs of one study.
#pragma once

#include "store/analysis/statistics/run.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

struct SpeedRun {
  std::size_t point = 0;   // runs with the same number are repeats of each other
  std::int64_t repeat = 0; // from 0
  double begin_unix_s = 0; // NaN: not known
  double throughput = 0;   // samples/s; NaN: not measured
};

// Whether the repeats were measured in rounds: the order in which the runs began follows their repeats (a correlation of the
// ranks of at least 0.75; with one point after the other it is at most about 0.5). False for fewer than two repeats, and if the
// begin of a measured run is not known.
bool are_in_rounds(std::span<const SpeedRun> runs);

// The name of a round for Candidate::blocks: rounds of two studies are not the same.
std::string round_name(const std::string& study, std::int64_t repeat);
// Whether a block is such a round, and not the repeat of a ladder.
bool is_round_name(const std::string& block);

// By run, whether it is an outlier: farther from the median of the other runs of its point than eight standard deviations of the
// study, than five ranges of these other runs, and than 2 %. The standard deviation comes from the median of all differences
// within points (0.954 standard deviations, if runs are normal), so that a few outliers hardly change it. An outlier is also
// farther away than two units of rounding_of. Of a point with n runs at most n/3 are outliers. If more than a tenth of all runs,
// and more than one, would be outliers, it is no matter of single runs, and none is one.
std::vector<bool> outlying_runs(std::span<const SpeedRun> runs);

// A change of the machine during the study.
struct Trend {
  double change = 0; // throughput of the last run relative to the first one's, less 1, if both were of one point
  double p = 1;      // that there is none
};
// Regresses the logarithms of the throughputs on the order in which the runs began, with a mean for each point. Nothing if p is
// above 1 %, or with fewer than 6 runs of points with at least two runs. `left_out`: runs that do not count; may be empty.
std::optional<Trend> trend_of(std::span<const SpeedRun> runs, const std::vector<bool>& left_out);

// Two groups of runs with a gap between them.
struct TwoSpeeds {
  double ratio = 1;                 // throughput of the slow runs, divided by that of the fast ones of their point
  std::size_t slow = 0, of = 0;     // slow runs, and runs that were looked at
  std::optional<std::size_t> point; // to which all slow runs belong; nothing: to several
  double p = 1;                     // that normal runs fall so clearly into two groups
};
// Divides the runs of each point with at least 3 runs into the two groups that scatter least within themselves. The sum of
// squares that is left, relative to that without groups, is compared with that of 999 samples of normal runs. The groups of a
// point count if their gap is at least half of the widest. Nothing if p is above 1 %, the smaller group has less than a fifth of
// the runs of these points, the ratio is above 0.99, or there are fewer than 9 runs. Nothing for throughputs that are rounded
// (rounding_of).
std::optional<TwoSpeeds> two_speeds_of(std::span<const SpeedRun> runs, const std::vector<bool>& left_out);

// The unit to which the throughputs were rounded before dtctl read them, in samples/s, as a program does that prints whole
// figures: the largest power of ten that all of them are multiples of. Nothing if the runs of a point differ by more than a few
// units, because then the rounding hides nothing, and with fewer than 4 runs.
std::optional<double> rounding_of(std::span<const SpeedRun> runs);

// Marks the outliers among the runs of one study, without its controls, and gives rounds to those that were not measured in a
// ladder. Deterministic runs and those that did not succeed are not looked at.
void judge_conditions(std::span<Run* const> runs, const std::string& study);

} // namespace dt::store
