#include "store/analysis/verdict/race_outcome.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace dt::store {

std::vector<RaceOutcome> race_outcomes(std::span<const RacePoint> points, const Race& race)
{
  std::map<std::pair<std::int64_t, std::int64_t>, RaceOutcome> sizes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& standing = race.standings[i];
    auto& outcome = sizes[{points[i].ranks, points[i].nodes}];
    outcome.ranks = points[i].ranks;
    outcome.nodes = points[i].nodes;
    ++outcome.rivals;
    if (standing.is_best) outcome.best.push_back(i);
    if (standing.is_racing || standing.is_open) outcome.open.push_back(i);
    outcome.repeats = std::max(outcome.repeats, standing.repeats);
  }
  std::vector<RaceOutcome> outcomes;
  for (auto& [size, outcome] : sizes)
    if (outcome.rivals > 1) outcomes.push_back(std::move(outcome));
  std::reverse(outcomes.begin(), outcomes.end());
  return outcomes;
}

} // namespace dt::store
