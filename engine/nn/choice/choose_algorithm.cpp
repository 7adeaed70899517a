#include "engine/nn/choice/choose_algorithm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dt::nn {
namespace {

// The number that choose_algorithms minimizes: the measured seconds, reduced for the rule's algorithm, so that another one must
// be clearly faster to be chosen.
double cost(double seconds, bool is_rule) { return is_rule ? (1 - clearly_faster) * seconds : seconds; }

struct Candidate {
  LayerAlgorithms algorithms;
  double cost = std::numeric_limits<double>::infinity();
};

// The best of both backward directions after one algorithm of the forward pass.
Candidate best_after(Algorithm forward, const LayerAlgorithms& rule, const std::vector<TimedPair>& timed)
{
  Candidate best{{forward, rule.backward_data, rule.backward_weights}};
  double forward_s = std::numeric_limits<double>::infinity(), data = forward_s, weights = forward_s;
  for (const auto& pair : timed) {
    if (pair.forward != forward || std::isnan(pair.seconds.forward)) continue;
    forward_s = std::min(forward_s, cost(pair.seconds.forward, forward == rule.forward));
    const auto take = [&](double seconds, Algorithm of_rule, double& least, Algorithm& chosen) {
      const double found = cost(seconds, pair.backward == of_rule);
      if (std::isnan(found) || found >= least) return;
      least = found;
      chosen = pair.backward;
    };
    take(pair.seconds.backward_data, rule.backward_data, data, best.algorithms.backward_data);
    take(pair.seconds.backward_weights, rule.backward_weights, weights, best.algorithms.backward_weights);
  }
  best.cost = forward_s + (std::isinf(data) ? 0 : data) + (std::isinf(weights) ? 0 : weights);
  return best;
}

} // namespace

LayerAlgorithms choose_algorithms(const LayerAlgorithms& rule, const std::vector<TimedPair>& timed)
{
  auto best = best_after(rule.forward, rule, timed);
  for (const auto& pair : timed) {
    if (pair.forward == rule.forward) continue;
    if (const auto other = best_after(pair.forward, rule, timed); other.cost < best.cost) best = other;
  }
  return best.algorithms;
}

} // namespace dt::nn
