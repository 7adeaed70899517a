// What the race of a study, which was repeated until it was decided, has come to. Pure functions; cli/answers/verdict has the
// words.
#pragma once

#include "store/analysis/statistics/race.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dt::store {

// The rivals of one size.
struct RaceOutcome {
  std::int64_t nodes = 0, ranks = 0;
  std::size_t rivals = 0;
  std::vector<std::size_t> best{}, open{}; // indices of the points: the best ones; those about which nothing is decided
  std::int64_t repeats = 0;                // the most that a rival has
};

// By size, the largest one first; sizes without rivals are left out. The rule of the race decides, not a ranking of the same
// runs: a ranking does not know how often they were looked at.
std::vector<RaceOutcome> race_outcomes(std::span<const RacePoint> points, const Race& race);

} // namespace dt::store
