#include "store/analysis/prediction/calibration.hpp"

#include "core/maths/nonnegative_fit.hpp"
#include "core/maths/statistics.hpp"
#include "core/text.hpp"
#include "store/analysis/prediction/link_fit.hpp"
#include "store/analysis/statistics/welch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
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
  for (const auto& [batch, seconds] : compute_samples(sizes)) {
    samples.push_back({{1, batch, 0}, seconds});
    batches.insert(batch);
  }
  if (samples.empty()) return;
  const bool has_one = batches.size() == 1;
  if (has_one)
    for (auto& sample : samples) sample.x[0] = 0;
  const auto fit = fit_nonnegative(samples);
  calibration.fixed_s = fit.unknowns[0];
  calibration.sample_s = fit.unknowns[1];
  if (has_one && !calibration.traits.batches.is_weak())
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

double median_update_of_server(const MeasuredSize& size)
{
  std::vector<double> times;
  for (const auto& run : size.runs)
    if (run.server_update_s > 0) times.push_back(run.server_update_s);
  return times.empty() ? 0 : median(std::move(times));
}

// The service time follows from the measured step: what the workers wait beyond their own work is the queue. The time of the
// bytes on the link is the part that a faster link shortens.
void fit_service(Calibration& calibration, const MeasuredSize& largest)
{
  const double after_s = calibration.traits.answers_first ? median_update_of_server(largest) : 0;
  calibration = with_service(std::move(calibration), largest, after_s);
  if (calibration.link.beta_s > 0)
    calibration.service_link_s = std::min(calibration.service_s, 2 * calibration.traits.exchange_bytes * calibration.link.beta_s);
  calibration.assumptions.push_back(fmt::format("The servers are one queue; an exchange takes them {:.3g} ms, so that the replay "
                                                "agrees with the measured step at the largest size, and as long at every other "
                                                "size.",
                                                1e3 * calibration.service_s));
  if (after_s > 0)
    calibration.assumptions.push_back(
        fmt::format("Of that, the servers update the centre for {:.3g} ms after the worker has its answer.", 1e3 * after_s));
}

// Without a known share, that with which the times of the sizes that crossed trunks fit best; 1 if no size did.
double fit_trunk(const Calibration& calibration, std::span<const MeasuredSize> sizes, const LinkSource& links)
{
  const auto& traits = calibration.traits;
  if (std::isfinite(traits.trunk_share)) return traits.trunk_share;
  double best = 1, least = std::numeric_limits<double>::infinity();
  for (const double share : possible_trunk_shares(traits)) {
    const auto fit = fit_link(traits, calibration.buckets, sizes, links, share);
    const double left = fit.samples.empty() ? 0 : fit.deviation;
    if (left < least) best = share, least = left;
  }
  return best;
}

void fit_network(Calibration& calibration, std::span<const MeasuredSize> sizes, const LinkSource& links)
{
  calibration.trunk_share = fit_trunk(calibration, sizes, links);
  calibration.link_fit = fit_link(calibration.traits, calibration.buckets, sizes, links, calibration.trunk_share);
  calibration.link = calibration.link_fit.link;
  for (auto& sentence : calibration.link_fit.assumptions) calibration.assumptions.push_back(std::move(sentence));
}

// "the measured sizes stay inside one" and the like, for a study of several nodes.
std::string measured_crossings(const SeriesTraits& traits, std::span<const MeasuredSize> sizes)
{
  std::vector<std::string> inside, across;
  for (const auto& size : sizes)
    (shape_of(traits, size.at).supernodes > 1 ? across : inside).push_back(std::to_string(size.at.size));
  if (across.empty()) return "no measured size crosses a trunk between them";
  return fmt::format("of the measured sizes, {} crossed trunks{}", join(across, ", "),
                     inside.empty() ? "" : " and " + join(inside, ", ") + " did not");
}

void describe_topology(Calibration& calibration, std::span<const MeasuredSize> sizes)
{
  const auto& traits = calibration.traits;
  if (traits.ranks_per_node == any_number_of_ranks) return;
  auto& words = calibration.assumptions;
  if (traits.nodes_per_supernode == 0) {
    words.push_back("Predicted as if all nodes were on one switch that limits nothing, because no topology is known; "
                    "resources.nodes_per_supernode tells it.");
    return;
  }
  words.push_back(fmt::format(
      "Supernodes of {} nodes: {}. {}", traits.nodes_per_supernode, measured_crossings(traits, sizes),
      calibration.trunk_share < 1
          ? fmt::format("A trunk has {:.3g} % of the bandwidth of its nodes' links together.", 100 * calibration.trunk_share)
          : "Predicted as if the trunks limited nothing."));
}

CostTerms terms_at(const Calibration& calibration, const StudySize& size)
{
  const auto shape = shape_of(calibration.traits, size);
  auto terms = cost_terms(calibration.traits.allreduce, shape);
  terms.link *= trunk_stretch(calibration.traits.allreduce, shape, calibration.trunk_share);
  return terms;
}

// The factor by which steps of this size are longer than the replay says: the measured correction, and beyond the largest
// measured size the growth.
double scale_at(const Calibration& calibration, const StudySize& size)
{
  const double beyond = static_cast<double>(size.workers) / static_cast<double>(calibration.grown_from);
  return calibration.correction * (beyond > 1 ? std::pow(beyond, calibration.growth) : 1);
}

PredictedStep served_step_at(const Calibration& calibration, const StudySize& size)
{
  const auto replayed = replay(served_at(calibration, size));
  return {replayed.step_s * scale_at(calibration, size), replayed.waiting_s / replayed.step_s, 0, replayed.busy};
}

// The sums' share of the step; the replay is of the computation at this size.
PredictedStep synchronous_step_at(const Calibration& calibration, const StudySize& size, const StepReplay& replay)
{
  auto step = synchronous_at(calibration, size);
  const auto replayed = replay.of(step);
  const double sums_s = isolated_s(step) / static_cast<double>(step.period);
  return {replayed.step_s * scale_at(calibration, size), replayed.communication_s / replayed.step_s,
          replayed.straggler_s / replayed.step_s, std::min(1.0, sums_s / replayed.step_s)};
}

std::string words_of(const BatchRule& batches)
{
  if (batches.is_weak()) return "Weak scaling: the batch per worker stays.";
  if (batches.is_strong()) return "Strong scaling: the global batch stays.";
  return fmt::format("The samples of a step are those that were recorded: {:.4g} of {:.0f} workers, {:.4g} of {:.0f}. At other "
                     "sizes they are taken to be proportional to workers^{:.2g}.",
                     batches.sizes.front().samples, batches.sizes.front().workers, batches.sizes.back().samples,
                     batches.sizes.back().workers, batches.growth);
}

void describe_model(Calibration& calibration)
{
  const auto& traits = calibration.traits;
  auto& words = calibration.assumptions;
  words.push_back(words_of(traits.batches));
  if (traits.ranks_per_node == any_number_of_ranks)
    words.push_back(
        "All ranks run on one node; its cores and its memory are taken to serve more ranks as well as the measured ones.");
  if (traits.is_own_program)
    words.push_back(
        "How the program exchanges is not known. Its gradients are taken to be summed by a ring, and the time of the sums "
        "follows from the exposed communication of the rank that waits least.");
  if (traits.is_served) return;
  if (calibration.buckets.size() == 1 && calibration.buckets[0].ready == 1)
    words.push_back("Gradients are sent in one piece at the end of the backward pass.");
  else if (!traits.is_beside)
    words.push_back(fmt::format("{} buckets of gradients become ready as recorded.", calibration.buckets.size()));
}

} // namespace

std::vector<ComputeSample> compute_samples(std::span<const MeasuredSize> sizes)
{
  std::vector<ComputeSample> samples;
  for (const auto& size : sizes)
    if (const double compute_s = compute_s_of(size); compute_s > 0) samples.push_back({size.at.batch, compute_s});
  return samples;
}

SynchronousStep synchronous_at(const Calibration& calibration, const StudySize& size)
{
  return {.workers = size.workers,
          .input_s = calibration.input_s,
          .compute_s = calibration.fixed_s + calibration.sample_s * size.batch,
          .update_s = calibration.update_s,
          .spread = calibration.spread,
          .buckets = calibration.buckets,
          .period = calibration.traits.period,
          .terms = terms_at(calibration, size),
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
          .after_answer_s = calibration.after_answer_s,
          .threads = calibration.traits.service_threads,
          .in_turn = calibration.traits.is_in_turn};
}

PredictedStep step_at(const Calibration& calibration, const StudySize& size)
{
  if (calibration.traits.is_served) return served_step_at(calibration, size);
  return synchronous_step_at(calibration, size, StepReplay(synchronous_at(calibration, size)));
}

std::vector<PredictedStep> steps_at(std::span<const Calibration> calibrations, const StudySize& size)
{
  std::vector<PredictedStep> steps;
  std::optional<StepReplay> replay;
  for (const auto& calibration : calibrations) {
    if (calibration.traits.is_served) {
      steps.push_back(served_step_at(calibration, size));
      continue;
    }
    if (!replay) replay.emplace(synchronous_at(calibration, size));
    steps.push_back(synchronous_step_at(calibration, size, *replay));
  }
  return steps;
}

Calibration corrected(Calibration calibration, const MeasuredSize& size)
{
  calibration.correction = 1;
  calibration.correction = step_s_of(size) / step_at(calibration, size.at).step_s;
  return calibration;
}

Calibration with_service(Calibration calibration, const MeasuredSize& size, double after_answer_s)
{
  calibration.after_answer_s = after_answer_s;
  calibration.service_s = service_that_gives(served_at(calibration, size.at), step_s_of(size));
  return calibration;
}

Calibration calibrate(const SeriesTraits& traits, std::span<const MeasuredSize> sizes, const LinkSource& links)
{
  const auto& largest = sizes.back();
  Calibration calibration{.traits = traits};
  calibration.grown_from = std::max<std::int64_t>(1, largest.at.workers);
  calibration.buckets = buckets_of(traits, sizes);
  describe_model(calibration);
  fit_compute(calibration, sizes);
  calibration.input_s = mean_of_workers(largest, [](const WorkerTimes& worker) { return worker.input_s; });
  calibration.update_s = update_s_of(largest);
  calibration.spread = spread_of(largest);
  if (!traits.is_served || links.network) fit_network(calibration, sizes, links);
  if (traits.is_served) fit_service(calibration, largest);
  describe_topology(calibration, sizes);
  calibration = corrected(std::move(calibration), largest);
  calibration.assumptions.push_back(
      fmt::format("At the largest measured size a step takes {:.2f} times as long as replayed; predictions are scaled by that.",
                  calibration.correction));
  return calibration;
}

} // namespace dt::store
