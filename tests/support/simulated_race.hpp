// A race whose runs are simulated.
#pragma once

#include "store/analysis/statistics/race.hpp"
#include "tests/support/simulated_machine.hpp"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace dt::test {

// Candidates "0", "1", … at each of so many sizes, without runs; point i is candidate i modulo `candidates`.
inline std::vector<store::RacePoint> rivals(std::size_t candidates, std::size_t sizes)
{
  std::vector<store::RacePoint> points;
  for (std::size_t size = 0; size < sizes; ++size)
    for (std::size_t candidate = 0; candidate < candidates; ++candidate)
      points.push_back({.label = std::to_string(candidate), .ranks = std::int64_t{1} << size, .values = {}});
  return points;
}

// Runs the rounds that the race asks for, each with the points that still race in a random order, until it is over. `value_of`
// gives the next run of a point. `looked` is called with the race after each look.
inline store::Race run_race(
    std::vector<store::RacePoint>& points, const store::RaceRule& rule, Draws& draws,
    const std::function<double(std::size_t)>& value_of,
    const std::function<void(const store::Race&)>& looked = [](const store::Race&) {})
{
  for (std::int64_t round = 0;;) {
    auto race = store::race_of(points, rule);
    looked(race);
    if (race.is_over) return race;
    if (race.repeats <= round) throw std::logic_error("the race goes back to an earlier look");
    for (; round < race.repeats; ++round)
      for (const auto i : draws.order(points.size()))
        if (race.standings[i].repeats > round) points[i].values.emplace_back(value_of(i));
  }
}

} // namespace dt::test
