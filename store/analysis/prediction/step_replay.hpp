// Replays training steps of a synchronous strategy at any number of workers. Pure functions.
//
// A step: each worker waits for input and computes (forward and backward pass). A bucket of gradients can be summed when the last
// worker has it. The sums run one after another, because they share the link. The step ends when the last sum is done and the
// weights are updated. With a period, workers compute that many steps without waiting for each other before they exchange.
#pragma once

#include "core/maths/allreduce_cost.hpp"
#include "store/analysis/prediction/step_spread.hpp"

#include <cstdint>
#include <vector>

namespace dt::store {

// A part of what one exchange sums.
struct Bucket {
  double bytes = 0;
  double ready = 1; // share of the compute time after which it can be sent: 1 is the end of the backward pass
  friend bool operator==(const Bucket&, const Bucket&) = default;
};

// What one step of one strategy at one size consists of. Times are means of a worker and a step, in seconds.
struct SynchronousStep {
  std::int64_t workers = 1;
  double input_s = 0, compute_s = 0, update_s = 0;
  StepSpread spread{};           // of the compute times
  std::vector<Bucket> buckets{}; // in the order of their sums
  std::int64_t period = 1;       // steps from one exchange to the next
  CostTerms terms{};             // of one sum at this size
  CostModel link{};
};

// Means over the replayed steps.
struct ReplayedStep {
  double step_s = 0;
  double communication_s = 0; // exposed: from the end of the slowest worker's computation to the end of the last sum
  double straggler_s = 0;     // how much longer the slowest worker's input and computation take than the mean worker's
};

// The computation of all workers, replayed once for steps with any times and links: the workers, the scatter, the period and the
// buckets are those of the constructor's step. The seed and the number of steps are fixed, so equal steps give equal results, and
// steps that differ only in the link are replayed with equal compute times.
class StepReplay {
 public:
  explicit StepReplay(const SynchronousStep& step);
  // `step` has the workers, the scatter, the period and the buckets' order and readiness of the constructor's.
  ReplayedStep of(const SynchronousStep& step) const;

 private:
  // The steps between two exchanges, in compute times of a mean step. A round of p steps begins p input and p - 1 update times
  // earlier.
  struct Round {
    double computed = 0;            // when the slowest worker ends its last backward pass
    double last_compute = 0;        // of the slowest worker of that step; only with a period of 1
    std::vector<double> ready = {}; // [bucket]: when the slowest worker has it; only with a longer period
  };
  void add_worker(const SynchronousStep& step, const std::vector<double>& factors, double own_factor);
  static double end_of_sums_s(const SynchronousStep& step, const Round& round);

  std::vector<Round> rounds_;
};

// StepReplay of this step alone.
ReplayedStep replay(const SynchronousStep& step);

// Seconds that the sums of one exchange take with nothing beside them.
double isolated_s(const SynchronousStep& step);

} // namespace dt::store
