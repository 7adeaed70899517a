// GradientNoise: measures the gradient noise scale while a strategy or a replica sums gradients (core/maths/noise_scale.hpp). It
// only reads the gradients.
#pragma once

#include "core/maths/noise_scale.hpp"
#include "engine/sync/replica.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace dt::sync {

class GradientNoise {
 public:
  // Each step computes the gradients of `parts` small batches and their mean: one batch of each worker, or the micro-batches of
  // one worker. Every `every`-th step is measured; 0: none.
  GradientNoise(std::int64_t every, std::int64_t parts)
      : every_(parts > 1 ? every : 0), parts_(parts), estimator_(1, static_cast<double>(parts))
  {
  }

  // Whether there is anything to measure. Without, all calls below do nothing.
  bool measures() const { return every_ > 0; }
  void begin_step(Replica& replica);
  // Take the gradients at positions [begin, begin + gradients.size()) of the packed buffer: add_own() those of one small batch,
  // add_sum() their sum over all small batches. Several threads may call add_sum() at the same time.
  void add_own(std::span<const float> gradients, std::size_t begin);
  void add_sum(std::span<const float> sums, std::size_t begin);
  // The sums of squares that add_own() and add_sum() have computed since begin_step().
  double own() const { return own_; }
  double sum() const { return sum_; }
  // Adds the step to the estimate. `own`: the sum of own() over all small batches; `sum`: sum() of the whole buffer.
  void end_step(double own, double sum);
  // Begins again, after the warm-up.
  void forget() { estimator_ = {1, static_cast<double>(parts_)}; }
  // In units of one small batch.
  NoiseScale noise_scale() const { return measures() ? estimator_.estimate() : NoiseScale(); }
  double recent_noise_scale() { return estimator_.recent(); }

 private:
  double squares_of(std::span<const float> gradients, std::size_t begin) const;

  std::int64_t every_, parts_;
  NoiseScaleEstimator estimator_;
  std::vector<Range> gradients_; // the packed buffer without padding, marks and statistics of batch norm
  bool is_due_ = false;
  double own_ = 0;
  std::atomic<double> sum_ = 0;
};

} // namespace dt::sync
