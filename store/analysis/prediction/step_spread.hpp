// StepSpread: how the compute times of workers and steps scatter, and samples of that scatter for replays. Pure functions.
#pragma once

#include <cstddef>
#include <vector>

namespace dt::store {

// Quantiles of the compute time of one worker over its steps, as factors of its mean; and the scatter of the workers' means. The
// default does not scatter.
struct StepSpread {
  double p50 = 1, p95 = 1, p99 = 1, max = 1;
  double steps = 100;    // number of steps that the quantiles come from: `max` is their quantile 1 - 1/(2 steps)
  double of_workers = 0; // coefficient of variation of the workers' means: hosts and cores that are always slower
  friend bool operator==(const StepSpread&, const StepSpread&) = default;
};

// `count` factors of the mean at equally probable levels (k + 1/2) / count, in ascending order, with a mean of exactly 1. Between
// the known quantiles the logarithm is linear in the normal score, which is a log-normal distribution in two pieces or more:
// one for the bulk (below p95), one for the tail. Below the median the bulk is mirrored. No factor exceeds `max`, whatever its
// level: the model does not invent worse outliers than those that were measured.
std::vector<double> step_factors(const StepSpread& spread, std::size_t count);

// The factors of `workers` workers: the normal quantiles at levels (k + 1/2) / workers, with the spread's deviation, at least
// 0.2, scaled to a mean of exactly 1.
std::vector<double> worker_factors(const StepSpread& spread, std::size_t workers);

} // namespace dt::store
