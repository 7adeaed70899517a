// Runs that follow the model of the predictions exactly, with known parameters and noise.
#pragma once

#include "core/maths/random.hpp"
#include "core/maths/statistics.hpp"
#include "store/analysis/prediction/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace dt::store::test {

struct Truth {
  double fixed_s = 2e-3, sample_s = 1e-3; // of computation
  double input_s = 1e-4, update_s = 1e-3;
  CostModel link{.alpha_s = 50e-6, .beta_s = 8e-9};
  std::string allreduce = "ring", strategy = "sync-sgd";
  double bytes = 4e6; // of all gradients, in four buckets
  double step_deviation = 0.05, worker_deviation = 0.02, run_deviation = 0.02;
  double global_batch = 512, service_s = 0;
  double after_answer_s = 0, server_update_s = not_measured; // the first as it is, the second as it is recorded
  bool is_in_turn = false, answers_first = false;
  std::int64_t servers = 0, period = 1;
  std::int64_t nodes_per_supernode = 0;
  double trunk_share = 1;      // as it is
  bool is_trunk_known = false; // whether the study knows it
  bool is_weak = false;
  int repeats = 3;
};

inline SeriesTraits traits_of(const Truth& truth)
{
  return {.strategy = truth.strategy,
          .allreduce = truth.allreduce,
          .is_served = truth.service_s > 0,
          .is_in_turn = truth.is_in_turn,
          .answers_first = truth.answers_first,
          .period = truth.period,
          .exchange_bytes = truth.bytes,
          .by_nodes = true,
          .nodes_per_supernode = truth.nodes_per_supernode,
          .servers = truth.servers,
          .trunk_share = truth.is_trunk_known ? truth.trunk_share : not_measured,
          .batches = batch_rule(truth.is_weak ? "weak" : "strong", std::vector{StepSamples{1, truth.global_batch}})};
}

inline std::vector<Bucket> true_buckets(const Truth& truth)
{
  return {{truth.bytes / 4, 0.55}, {truth.bytes / 4, 0.7}, {truth.bytes / 4, 0.85}, {truth.bytes / 4, 1}};
}

// The quantiles of a log-normal distribution with this deviation, over `steps` steps.
inline StepSpread true_spread(const Truth& truth, double steps = 200)
{
  const double s = truth.step_deviation, mean = std::exp(s * s / 2);
  return {.p50 = 1 / mean,
          .p95 = std::exp(1.645 * s) / mean,
          .p99 = std::exp(2.326 * s) / mean,
          .max = std::exp(2.81 * s) / mean,
          .steps = steps,
          .of_workers = truth.worker_deviation};
}

inline Calibration true_model(const Truth& truth)
{
  return {.traits = traits_of(truth),
          .fixed_s = truth.fixed_s,
          .sample_s = truth.sample_s,
          .input_s = truth.input_s,
          .update_s = truth.update_s,
          .spread = true_spread(truth),
          .buckets = true_buckets(truth),
          .link = truth.link,
          .trunk_share = truth.trunk_share,
          .service_s = truth.service_s,
          .after_answer_s = truth.after_answer_s};
}

// Throughput without noise.
inline double true_throughput(const Truth& truth, std::int64_t n)
{
  const auto size = size_of(traits_of(truth), n);
  return static_cast<double>(size.workers) * size.batch / step_at(true_model(truth), size).step_s;
}

// Log-normal noise with this deviation.
inline double noise(Random& random, double deviation) { return std::exp(deviation * static_cast<double>(random.normal())); }

inline MeasuredTimes run_of(const Truth& truth, const StudySize& size, Random& random)
{
  const auto model = true_model(truth);
  const double slower = noise(random, truth.run_deviation);
  const auto step = step_at(model, size);
  MeasuredTimes run{.server_update_s = truth.server_update_s, .steps = 300, .measured_steps = 200};
  run.throughput = static_cast<double>(size.workers) * size.batch / (step.step_s * slower);
  const double alone_s = truth.service_s > 0 ? truth.service_s - truth.after_answer_s : isolated_s(synchronous_at(model, size));
  run.isolated_s = noise(random, 0.02) * alone_s / static_cast<double>(truth.period);
  run.buckets = true_buckets(truth);
  const auto spread = model.spread;
  for (const double own : worker_factors(spread, static_cast<std::size_t>(size.workers))) {
    const double compute_s = (truth.fixed_s + truth.sample_s * size.batch) * own * slower;
    run.workers.push_back({.input_s = truth.input_s,
                           .compute_s = compute_s,
                           .update_s = truth.update_s,
                           .communication_s = std::max(0.0, step.step_s * slower - compute_s - truth.input_s - truth.update_s),
                           .p50_s = compute_s * spread.p50,
                           .p95_s = compute_s * spread.p95,
                           .p99_s = compute_s * spread.p99,
                           .max_s = compute_s * spread.max});
  }
  return run;
}

inline SeriesMeasurements measure(const Truth& truth, const std::vector<std::int64_t>& sizes, std::uint64_t seed)
{
  Random random(seed);
  SeriesMeasurements series{.series = "synthetic", .traits = traits_of(truth), .sizes = {}};
  for (const auto n : sizes) {
    MeasuredSize size{size_of(series.traits, n), {}};
    for (int repeat = 0; repeat < truth.repeats; ++repeat) size.runs.push_back(run_of(truth, size.at, random));
    series.sizes.push_back(std::move(size));
  }
  return series;
}

} // namespace dt::store::test
