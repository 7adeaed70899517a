// A response surface whose optimum is known: what a training costs at a value of a tuned key.
#pragma once

#include "store/analysis/statistics/tuning.hpp"
#include "tests/support/simulated_machine.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace dt::test {

// The logarithm of the cost is a parabola over the decades of each key. Beyond the cliff, counted in decades from the optimum,
// the training diverges. Seeds scatter log-normally.
struct Surface {
  std::vector<double> optimum; // logarithms to base 10
  double bend = 1.3;           // of the parabola, per decade squared: 1.3 costs 1.6 times as much 0.6 decades away
  double cliff = std::numeric_limits<double>::infinity();
  double noise = 0;
  double least = 1; // the cost at the optimum

  double cost(const store::Setting& setting) const
  {
    double height = 0;
    for (std::size_t k = 0; k < setting.size(); ++k) {
      const double decades = std::log10(setting[k]) - optimum[k];
      if (decades > cliff) return std::numeric_limits<double>::infinity();
      height += bend * decades * decades;
    }
    return least * std::exp(height);
  }
  double cost_of_a_run(const store::Setting& setting, Draws& draws) const
  {
    return cost(setting) * std::exp(noise * draws.normal());
  }
};

// The search of one or two keys from 0.001 to 1.
inline store::Search search(std::size_t keys, std::int64_t runs, const std::vector<store::Setting>& guesses,
                            const store::CostOf& cost_of)
{
  const TunedKey key{.path = "", .from = 0.001, .to = 1, .least = 1e-12, .most = 1e3};
  return store::search_of({.keys = std::vector<TunedKey>(keys, key), .runs = runs}, guesses, cost_of);
}

inline store::Search search(const Surface& surface, std::int64_t runs, Draws& draws,
                            const std::vector<store::Setting>& guesses = {})
{
  return search(surface.optimum.size(), runs, guesses,
                [&](const store::Trial& trial) -> std::optional<double> { return surface.cost_of_a_run(trial.setting, draws); });
}

} // namespace dt::test
