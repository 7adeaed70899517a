// The verdict on a study that was repeated until it was decided: what its race says, in sentences. Pure functions.
#pragma once

#include "store/analysis/statistics/race.hpp"
#include "store/analysis/verdict/verdict.hpp"

#include <span>
#include <string>

namespace dt::store {

// What the rivals of the largest size have come to, and a line for each smaller size that has rivals. The rule of the race
// decides, not a ranking of the same runs: a ranking does not know how often they were looked at. `limit`: why no more runs are
// made although the race is not over, such as a budget; empty: it may go on. `facts`: as of verdict_text. Empty if no size has
// rivals.
VerdictText race_verdict(std::span<const RacePoint> points, const Race& race, const RaceRule& rule, const std::string& limit,
                         std::span<const std::string> facts);

} // namespace dt::store
