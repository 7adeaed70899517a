#include "store/analysis/prediction/calibration.hpp"

#include "core/nonnegative_fit.hpp"
#include "core/statistics.hpp"
#include "store/analysis/prediction/link_fit.hpp"
#include "store/analysis/statistics/welch.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace dt::store {
namespace {

// Mean of a figure over all workers of all runs of a size.
template<class Figure> double mean_of_workers(const MeasuredSize& size, Figure figure)
{
  double sum = 0, count = 0;
  for (const auto& run : size.runs)
    for (const auto& worker : run.workers) {
      sum += figure(worker);
      ++count;
    }
  return count > 0 ? sum / count : 0;
}

double compute_s_of(const MeasuredSize& size)
{
  return mean_of_workers(size, [](const WorkerTimes& worker) { return worker.compute_s; });
}

// A quantile of the compute time as a factor of the worker's mean: median over all workers of all runs.
double factor_of(const MeasuredSize& size, double WorkerTimes::*quantile)
{
  std::vector<double> factors;
  for (const auto& run : size.runs)
    for (const auto& worker : run.workers)
      if (worker.compute_s > 0 && worker.*quantile > 0) factors.push_back(worker.*quantile / worker.compute_s);
  return factors.empty() ? 1 : median(std::move(factors));
}

// Standard deviation of the workers' mean compute times within a run, as a share of their mean; pooled over the runs.
double scatter_of_workers(const MeasuredSize& size)
{
  double squares = 0, freedom = 0;
  for (const auto& run : size.runs) {
    std::vector<double> means;
    for (const auto& worker : run.workers)
      if (worker.compute_s > 0) means.push_back(worker.compute_s);
    if (means.size() < 2) continue;
    const auto moments = moments_of(means);
    const double degrees = moments.count - 1;
    squares += degrees * moments.variance / (moments.mean * moments.mean);
    freedom += degrees;
  }
  return freedom > 0 ? std::sqrt(squares / freedom) : 0;
}

StepSpread spread_of(const MeasuredSize& size)
{
  std::vector<double> steps;
  for (const auto& run : size.runs) steps.push_back(run.measured_steps);
  return {.p50 = factor_of(size, &WorkerTimes::p50_s),
          .p95 = factor_of(size, &WorkerTimes::p95_s),
          .p99 = factor_of(size, &WorkerTimes::p99_s),
          .max = factor_of(size, &WorkerTimes::max_s),
          .steps = median(steps),
          .of_workers = scatter_of_workers(size)};
}

void fit_compute(Calibration& calibration, std::span<const MeasuredSize> sizes)
{
  std::vector<FitSample> samples;
  std::set<double> batches;
  for (const auto& size : sizes) {
    const double compute_s = compute_s_of(size);
    if (!(compute_s > 0)) continue;
    samples.push_back({{1, size.at.batch, 0}, compute_s});
    batches.insert(size.at.batch);
  }
  if (samples.empty()) return;
  const bool has_one = batches.size() == 1;
  if (has_one)
    for (auto& sample : samples) sample.x[0] = 0;
  const auto fit = fit_nonnegative(samples);
  calibration.fixed_s = fit.unknowns[0];
  calibration.sample_s = fit.unknowns[1];
  if (has_one && !calibration.traits.is_weak)
    calibration.assumptions.push_back("Computation takes the same time for each sample at every batch size, because only one "
                                      "batch size per worker was measured.");
}

// What a step takes besides its recorded phases counts as update.
double update_s_of(const MeasuredSize& size)
{
  const double update_s = mean_of_workers(size, [](const WorkerTimes& worker) { return worker.update_s; });
  const double phases_s = mean_of_workers(size, [](const WorkerTimes& worker) {
    return worker.input_s + worker.compute_s + worker.update_s + worker.communication_s;
  });
  return phases_s > 0 ? update_s + std::max(0.0, step_s_of(size) - phases_s) : 0;
}

// The service time follows from the measured step: what the workers wait beyond their own work is the queue. The time of the
// bytes on the link is the part that a faster link shortens.
void fit_service(Calibration& calibration, const MeasuredSize& largest)
{
  const auto step = served_at(calibration, largest.at);
  calibration.service_s = service_that_gives(step, step_s_of(largest));
  if (calibration.link.beta_s > 0)
    calibration.service_link_s = std::min(calibration.service_s, 2 * calibration.traits.exchange_bytes * calibration.link.beta_s);
  calibration.assumptions.push_back(fmt::format("The servers are one queue; an exchange takes them {:.3g} ms, so that the replay "
                                                "agrees with the measured step at the largest "
                                                "size, and as long at every other size.",
                                                1e3 * calibration.service_s));
}

void describe_model(Calibration& calibration)
{
  const auto& traits = calibration.traits;
  auto& words = calibration.assumptions;
  words.push_back(traits.is_weak ? "Weak scaling: the batch per worker stays." : "Strong scaling: the global batch stays.");
  if (traits.ranks_per_node == any_number_of_ranks)
    words.push_back(
        "All ranks run on one node; its cores and its memory are taken to serve more ranks as well as the measured ones.");
  if (traits.is_served) return;
  if (calibration.buckets.size() == 1 && calibration.buckets[0].ready == 1)
    words.push_back("Gradients are sent in one piece at the end of the backward pass.");
  else if (!traits.is_beside)
    words.push_back(fmt::format("{} buckets of gradients become ready as recorded.", calibration.buckets.size()));
}

} // namespace

SynchronousStep synchronous_at(const Calibration& calibration, const StudySize& size)
{
  return {.workers = size.workers,
          .input_s = calibration.input_s,
          .compute_s = calibration.fixed_s + calibration.sample_s * size.batch,
          .update_s = calibration.update_s,
          .spread = calibration.spread,
          .buckets = calibration.buckets,
          .period = calibration.traits.period,
          .terms = cost_terms(calibration.traits.allreduce, shape_of(calibration.traits, size)),
          .link = calibration.link};
}

ServedStep served_at(const Calibration& calibration, const StudySize& size)
{
  return {.workers = size.workers,
          .input_s = calibration.input_s,
          .compute_s = calibration.fixed_s + calibration.sample_s * size.batch,
          .update_s = calibration.update_s,
          .spread = calibration.spread,
          .period = calibration.traits.period,
          .service_s = calibration.service_s,
          .service_link_s = calibration.service_link_s,
          .threads = calibration.traits.service_threads,
          .in_turn = calibration.traits.is_in_turn};
}

PredictedStep step_at(const Calibration& calibration, const StudySize& size)
{
  if (calibration.traits.is_served) {
    const auto replayed = replay(served_at(calibration, size));
    return {replayed.step_s * calibration.correction, replayed.waiting_s / replayed.step_s, 0};
  }
  const auto replayed = replay(synchronous_at(calibration, size));
  return {replayed.step_s * calibration.correction, replayed.communication_s / replayed.step_s,
          replayed.straggler_s / replayed.step_s};
}

Calibration calibrate(const SeriesTraits& traits, std::span<const MeasuredSize> sizes, const LinkSource& links)
{
  const auto& largest = sizes.back();
  Calibration calibration{.traits = traits};
  calibration.buckets = buckets_of(traits, sizes);
  describe_model(calibration);
  fit_compute(calibration, sizes);
  calibration.input_s = mean_of_workers(largest, [](const WorkerTimes& worker) { return worker.input_s; });
  calibration.update_s = update_s_of(largest);
  calibration.spread = spread_of(largest);
  if (!traits.is_served || links.network) {
    auto fit = fit_link(traits, calibration.buckets, sizes, links);
    calibration.link = fit.link;
    for (auto& sentence : fit.assumptions) calibration.assumptions.push_back(std::move(sentence));
  }
  if (traits.is_served) fit_service(calibration, largest);
  calibration.correction = step_s_of(largest) / step_at(calibration, largest.at).step_s;
  calibration.assumptions.push_back(
      fmt::format("At the largest measured size a step takes {:.2f} times as long as replayed; predictions are scaled by that.",
                  calibration.correction));
  return calibration;
}

} // namespace dt::store
