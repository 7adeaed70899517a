// Race: repeats the runs of a study only where its decision is still open, and drops candidates that have lost. Pure functions
// over the values of runs.
//
// The rule is fixed before the first run, so that stopping early does not raise the error rate. The candidates are looked at
// after fixed numbers of repeats (looks()). At a look after the share t of the most repeats, the looks so far may have spent the
// share t^2.5 of the error 1 - level [KimDeMets1987]; what a look may spend is divided equally among all m pairs of points that
// the race compares at all sizes, whichever are still in the race. By Bonferroni's inequality, the probability that any candidate
// is ever dropped although it is not worse, or declared equivalent although it is not, is at most 1 - level. Early looks spend
// little, because with few runs an interval depends most on the distribution of the runs, and drop only what is far behind.
//
// The repeats are rounds: candidates are compared within them (rounds.hpp), or by ranks where a run missed its target.
#pragma once

#include "store/analysis/statistics/comparison.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

struct RaceRule {
  double level = 0.95;
  // Candidates whose ratio lies between 1/(1 + margin) and 1 + margin are equivalent. A point that has no rival is precise enough
  // if the interval of its efficiency reaches at most this far from its middle, as a ratio.
  double margin = 0.03;
  std::int64_t first = 3, most = 12; // repeats of every point before the first look, and at most
  Better better = Better::larger;    // smaller: values are times to a target, and infinity stands for a run that missed it
};

// The numbers of repeats after which the candidates are compared: from rule.first, each 1.4 times the one before (rounded up), to
// rule.most. A rule of 3 and 12: 3, 5, 7, 10, 12.
std::vector<std::int64_t> looks(const RaceRule& rule);

// A point of the study. Points of the same size, in ranks and nodes, and another label are rivals. A size without rivals is
// compared with the smallest size of its label.
struct RacePoint {
  std::string label;
  std::int64_t ranks = 0;
  // By repeat: the run's value; NaN if it ended without one; nothing if it has not ended.
  std::vector<std::optional<double>> values;
  std::int64_t nodes = 1;
  std::string title{}; // the label as it is shown; empty: the label
};

struct RaceStanding {
  bool is_racing = true;    // false: no more runs are needed
  std::int64_t repeats = 0; // runs that the point needs: up to the next look, or up to the one that ended its race
  std::string reason{};     // why its race ended: "slower than ring at 5 repeats: 0.91x [0.88, 0.94]"; empty while it races
  bool is_best = false;     // no rival is better: it won, alone or with equivalent ones
  bool is_open = false;     // the race ended and did not decide about it
};

struct Race {
  bool is_over = false;
  std::int64_t repeats = 0;            // of the next look, or of the last one if the race is over
  std::vector<RaceStanding> standings; // in the order of the points
};

// Replays the race from its first look, using only the repeats that each look may use, of a point whose race has ended those up
// to its end. So a race that was interrupted goes on as
// if it had not been. Points with too few values for a comparison stay in the race.
Race race_of(std::span<const RacePoint> points, const RaceRule& rule);

} // namespace dt::store
