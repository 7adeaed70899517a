// The answer to "which strategy, on how many nodes, trains this network soonest?", of a tuned study over several sizes. Pure
// functions; cli/answers/study_answer has the words.
#pragma once

#include "store/analysis/verdict/standing.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// Two sizes of one series, the smaller first, and what the time to the target became between them:
//
//   sooner = speed / (samples · rest)
struct SizeGain {
  std::int64_t from = 0, to = 0; // nodes if these vary in the study, else ranks
  double sooner = not_measured;  // time at `from` divided by time at `to`
  double speed = not_measured;   // throughput at `to` divided by that at `from`
  double samples = not_measured; // samples to the target at `to` divided by those at `from`
  double rest = not_measured;    // evaluations and warm-up: speed / (samples · sooner)
};

struct StudyAnswer {
  bool by_nodes = false;             // otherwise all points have the same number of nodes, and sizes are ranks
  double target = 0;                 // accuracy, 0..1
  std::vector<ComparedPoint> points; // labels at sizes; Ranked::candidate of both standings is an index of them
  Standing soonest;                  // by time to the target, in seconds
  std::optional<Standing> cheapest;  // by node-hours to the target; none if all points have the same number of nodes
  // How the time to the target changes with the size, for the series whose point `soonest` ranks first. Sizes at which a run
  // missed the target are left out. gain: from the smallest size to that of this point. steps: from each size to the next.
  std::optional<SizeGain> gain{};
  std::vector<SizeGain> steps{};
  // The first size from which on a size of twice that saves less than least_saving of the time; 0: none of those measured.
  std::int64_t worth_until = 0;
  std::size_t runs = 0, seeds = 0; // that count: of all points; different ones of the point that has fewest
};

// Returns nothing if the points have one size or several targets, or if no point has enough runs.
std::optional<StudyAnswer> study_answer(const std::vector<ComparedPoint>& points, const Rule& rule);

} // namespace dt::store
