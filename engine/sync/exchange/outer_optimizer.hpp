// OuterOptimizer: the update rule of diloco. It moves the outer parameters, at which all workers begin, by the mean of what the
// workers have done since. [Douillard2023, algorithm 1]
#pragma once

#include "engine/sync/strategy.hpp"
#include "engine/sync/vector.hpp"

#include <span>
#include <vector>

namespace dt::sync {

// The rules, with the outer parameters w, the pseudo-gradient d = 1/P sum_i (w - w^i), and v, m and s zero at the start:
//   sgd       w <- w - lr d. With lr 1 this is the mean of the workers' weights, as local-sgd takes it.
//   momentum  v <- mu v + d; w <- w - lr v. SlowMo [WangSlowMo2020] has u <- mu u + d / gamma; w <- w - alpha gamma u, with the
//   workers'
//             learning rate gamma. If gamma is constant, v = gamma u and lr = alpha, so both are the same. If gamma follows a
//             schedule they differ: SlowMo then multiplies the whole of u by the new gamma.
//   nesterov  v <- mu v + d; w <- w - lr (d + mu v)
//   adam      m <- mu m + (1 - mu) d; s <- b2 s + (1 - b2) d^2; w <- w - lr m / (1 - mu^t) / (sqrt(s / (1 - b2^t)) + epsilon)
// Running statistics of batch norm become the mean of the workers' under every rule.
class OuterOptimizer {
 public:
  // For vectors with the layout of the replica's weights.
  OuterOptimizer(const OuterSpec& spec, Replica& replica);
  // outer <- rule(outer, d) in the range. sum: sum_i (w - w^i), with the layout of `outer`; share: 1/P; update: t, the number of
  // this update of the range, from 1. Computes where the vectors lie, but Adam always in the host's memory.
  void step(Range range, const Vector& outer, const Vector& sum, float share, std::int64_t update);
  // The rule's buffers; equal on all ranks.
  std::vector<StrategyState> state();

 private:
  void step_rule(Range range, const Vector& outer, const Vector& sum, float share, std::int64_t update);
  bool step_on_device(Range range, const Vector& outer, const Vector& sum, float share);

  OuterSpec spec_;
  std::vector<Range> statistics_; // ascending
  OwnVector mean_, square_;       // v or m; s
};

// Throws a recipe error if the wire would round running statistics.
void require_exact_statistics(const SyncSpec& sync, std::span<const Range> statistics);

} // namespace dt::sync
