// Tuning: finds the setting of a candidate's keys (a learning rate, a period) at which its cost is smallest, within a number of
// runs that is fixed before the first one. Pure functions over the costs of runs.
//
// The search goes from coarse to fine. The first round spreads settings evenly over the range, for two keys over their plane.
// Every further round tries settings around the centre: the vertex of a parabola through the logarithms of the costs near the
// best setting, on logarithmic axes where the range is logarithmic. The distance halves from round to round. Where the best
// setting is the outermost one that was tried, the round widens the range instead. The last runs repeat the settings next to the
// centre with other seeds, so that no single lucky run decides. A vertex beyond the settings with a finite cost is never chosen:
// there is often a cliff, behind which training diverges.
#pragma once

#include "core/spec/tuned_key.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace dt::store {

using Setting = std::vector<double>; // a value for each key, in their order

struct TuneRule {
  std::vector<TunedKey> keys; // one or two
  std::int64_t runs = 12;     // of a candidate
  std::int64_t seeds = 2;     // of each setting that is repeated
};

// A run of the search: seed 0 is the first one of its setting.
struct Trial {
  Setting setting;
  std::int64_t seed = 0;
  friend bool operator==(const Trial&, const Trial&) = default;
};

// The cost of a run, smaller is better. Infinite: it diverged, missed its target or was ended because it was far behind. Nothing:
// it has not ended.
using CostOf = std::function<std::optional<double>(const Trial&)>;

// The range of one key in which the parabola's costs are at most 10 % above that of the optimum. Infinite ends: no parabola could
// be fitted.
struct FlatRange {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

struct Search {
  bool is_over = false;
  std::vector<Trial> trials; // all runs that the search has asked for, in their order; the last ones may not have ended
  std::vector<std::optional<double>> costs{}; // of the trials, as CostOf
  // Once it is over:
  std::optional<Setting> best{};                         // nothing: no setting had a finite cost
  double cost = std::numeric_limits<double>::infinity(); // expected at `best`, by the parabola or the mean of its runs
  // Whether settings on both sides of the best one were tried and cost more, for each key, or the key can go no further. A best
  // setting that is not bracketed is no optimum.
  bool is_bracketed = false;
  std::vector<FlatRange> flat{}; // by key
};

// Replays the search from its first run, as far as costs are known. `guesses`: settings to begin with, such as the optimum of a
// smaller size and what rules of scaling make of it; the first round then tries these and what is around them, and the search
// takes fewer runs.
Search search_of(const TuneRule& rule, const std::vector<Setting>& guesses, const CostOf& cost_of);

} // namespace dt::store
