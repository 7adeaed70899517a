#include "store/analysis/attribution.hpp"

#include "store/analysis/doubts/busy_machine.hpp"
#include "store/analysis/statistics/candidate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>

namespace dt::store {
namespace {

std::size_t index_of(Factor factor) { return static_cast<std::size_t>(factor); }

FactorArray filled_with(double value)
{
  FactorArray array{};
  array.fill(value);
  return array;
}

bool has_useful_sums(const AttributedRun& run)
{
  return run.samples > 0 && run.measured_s > 0 && run.work.useful_s > 0 && run.work.useful_step_max_s > 0;
}

// The phases that the run did not report and that attribution needs to separate its factors.
MissingPhases missing_of(const AttributedRun& run)
{
  auto missing = run.missing;
  missing.work = missing.work || !has_useful_sums(run);
  missing.input = missing.input || !(run.work.busy_step_max_s > 0);
  return missing;
}

// Multiplies the factors that cannot be told apart into `together`.
void merge_phases(FactorArray& logs, const MissingPhases& missing)
{
  using enum Factor;
  std::vector<Factor> joined;
  if (missing.all_causes())
    joined = {batch, contention, load_balance, jitter, input, between, outside, communication, queueing};
  else if (missing.communication)
    joined = {batch, contention, load_balance, jitter, outside, communication, queueing};
  else if (missing.input)
    joined = {input, between, outside, communication};
  auto& all = logs[index_of(together)];
  for (const auto factor : joined) {
    auto& part = logs[index_of(factor)];
    if (!std::isnan(part)) all = std::isnan(all) ? part : all + part;
    part = not_measured;
  }
}

// L: the useful time of the run's samples if every batch took as long as on one rank alone. NaN if that was not measured.
double lone_useful_s(const AttributedRun& run)
{
  return run.lone_compute_s / run.batch_per_rank * static_cast<double>(run.samples) + run.update_s;
}

// Divides the time after Q into exposed communication and queueing.
void split_queueing(FactorArray& logs, const AttributedRun& run, double occupied_s)
{
  const bool has_servers = run.measured.workers != run.measured.ranks;
  if (!has_servers || std::isnan(run.isolated_s)) return;
  const double waited_s = std::max(0.0, run.measured_s - occupied_s);
  const double alone_s = std::min(waited_s, run.isolated_s * static_cast<double>(run.measured_steps));
  logs[index_of(Factor::communication)] = std::log(occupied_s / (occupied_s + alone_s));
  logs[index_of(Factor::queueing)] = std::log((occupied_s + alone_s) / run.measured_s);
}

// The time for which workers that are much slower together are so, or for which one is that nobody can be compared with. 0: not
// known.
double counted_pauses_s(const AttributedRun& run, const Compared& other)
{
  const auto& work = run.work;
  if (!(work.common_pauses_s > 0)) return 0;
  if (run.measured.workers > 1) return work.common_pauses_s;
  return std::max(0.0, work.pauses_s - other.pauses_alone * work.useful_step_fast_s);
}

// R and m.
struct FastWorker {
  double step_s, worker_s;
};
FastWorker fast_worker_of(const AttributedRun& run, const Compared& other)
{
  const auto& work = run.work;
  if (other.reference == Reference::mean_worker) {
    const double mean_s = work.useful_s / static_cast<double>(run.measured.workers);
    return {mean_s, mean_s};
  }
  return {std::min(work.useful_step_fast_s + counted_pauses_s(run, other), work.useful_fast_s), work.useful_fast_s};
}

// The only factor of a run of the user's program that reports its throughput, but not what its time went to.
std::optional<FactorArray> undivided(const AttributedRun& run)
{
  if (!run.is_own_program || !(run.measured.throughput > 0)) return std::nullopt;
  auto logs = filled_with(not_measured);
  logs[index_of(Factor::together)] = std::log(run.measured.throughput / static_cast<double>(run.measured.workers));
  return logs;
}

// The factors of each run of a point.
using Logs = std::vector<FactorArray>;

bool lacks(const Logs& runs, Factor factor)
{
  return std::any_of(runs.begin(), runs.end(), [&](const FactorArray& logs) { return std::isnan(logs[index_of(factor)]); });
}

// Counts a factor as a part of another one, in the runs that know it.
void join_part(Logs& runs, Factor part, Factor whole)
{
  for (auto& logs : runs) {
    if (std::isnan(logs[index_of(part)])) continue;
    logs[index_of(whole)] += logs[index_of(part)];
    logs[index_of(part)] = not_measured;
  }
}

// A mean over runs of which some have a split factor and some do not would lose it, so all of them are joined first. Without
// servers there are no queues: the factor is 1. So are those of the time between epochs and outside phases where nobody measured
// them.
void complete_parts(Logs& runs)
{
  for (const auto part : {Factor::queueing, Factor::between, Factor::outside}) {
    if (lacks(runs, part)) join_part(runs, part, Factor::communication);
    for (auto& logs : runs)
      if (std::isnan(logs[index_of(part)]) && !std::isnan(logs[index_of(Factor::communication)])) logs[index_of(part)] = 0;
  }
}

Moments factor_moments(const Logs& runs, std::size_t factor)
{
  std::vector<double> values;
  for (const auto& logs : runs) values.push_back(logs[factor]);
  return moments_of(values);
}

double sum_of_known(const FactorArray& values)
{
  double sum = 0;
  for (const double value : values)
    if (!std::isnan(value)) sum += value;
  return sum;
}

// The succeeded runs of a point that can be attributed.
using Runs = std::vector<const AttributedRun*>;

template<class Figure> double centre_of_figure(const Runs& runs, Scale scale, Figure figure)
{
  Candidate candidate;
  for (const auto* run : runs)
    if (const double value = figure(*run); !std::isnan(value)) candidate.values.push_back(value);
  return centre_of(candidate, scale);
}

// Exposed times may be 0.
template<class Figure> double mean_of_figure(const Runs& runs, Figure figure)
{
  return centre_of_figure(runs, Scale::difference, figure);
}

CommunicationFigures communication_of(const Runs& runs)
{
  CommunicationFigures figures{.isolated_s = mean_of_figure(runs, [](const auto& run) { return run.isolated_s; }),
                               .exposed_s = mean_of_figure(runs, [](const auto& run) { return run.exposed_s; }),
                               .bytes = mean_of_figure(runs, [](const auto& run) { return run.bytes; }),
                               .messages = mean_of_figure(runs, [](const auto& run) { return run.messages; })};
  figures.hidden_s = std::isnan(figures.isolated_s) ? not_measured : std::max(0.0, figures.isolated_s - figures.exposed_s);
  figures.bandwidth = figures.isolated_s > 0 ? figures.bytes / figures.isolated_s : not_measured;
  return figures;
}

// The samples to the target; a run that missed it counts as infinite. NaN if no run has a target or most runs missed it.
double samples_to_target(const Runs& runs)
{
  const double samples = centre_of_figure(runs, Scale::time_to_target, [](const AttributedRun& run) {
    if (run.measured.has_diverged) return not_measured;
    if (run.samples_to_accuracy > 0) return static_cast<double>(run.samples_to_accuracy);
    return run.measured.has_target() ? std::numeric_limits<double>::infinity() : not_measured;
  });
  return std::isinf(samples) ? not_measured : samples;
}

void take_latest_host(Attribution& point, const Runs& runs)
{
  std::map<std::string, std::int64_t> runs_of_host;
  for (const auto* run : runs)
    if (!run->latest_host.empty()) ++runs_of_host[run->latest_host];
  for (const auto& [host, count] : runs_of_host)
    if (count > point.latest_host_runs) {
      point.latest_host = host;
      point.latest_host_runs = count;
    }
}

double throughput_of(const AttributedRun& run)
{
  return run.samples > 0 && run.measured_s > 0 ? static_cast<double>(run.samples) / run.measured_s : run.measured.throughput;
}

Moments throughput_moments(const Runs& runs)
{
  std::vector<double> values;
  for (const auto* run : runs) values.push_back(throughput_of(*run));
  return log_moments(values);
}

struct Point {
  ScalingRow row;
  Runs runs;
  std::int64_t left_out = 0;
  MissingPhases missing{};
};

Logs logs_of(const Point& point, const Compared& other, const MissingPhases& missing)
{
  Logs runs;
  for (const auto* run : point.runs) {
    runs.push_back(*log_factors(*run, other));
    merge_phases(runs.back(), missing);
  }
  complete_parts(runs);
  return runs;
}

bool has_fast_worker(const Point& point)
{
  return std::all_of(point.runs.begin(), point.runs.end(), [](const AttributedRun* run) {
    return !has_useful_sums(*run) || (run->work.useful_fast_s > 0 && run->work.useful_step_fast_s > 0);
  });
}

bool knows_time_outside(const Point& point)
{
  return std::ranges::all_of(point.runs, [](const AttributedRun* run) { return run->work.occupied_step_max_s > 0; });
}

// Compared::pauses_alone, mean over the runs that recorded it. Of one worker 0: it has nobody to be compared with.
double pauses_alone(const Point& point)
{
  double sum = 0, runs = 0;
  for (const auto* run : point.runs) {
    const auto& work = run->work;
    if (run->measured.workers == 1 || std::isnan(work.pauses_s)) continue;
    sum += (work.pauses_s - work.common_pauses_s) / work.useful_step_fast_s;
    ++runs;
  }
  return runs > 0 ? sum / runs : 0;
}

// Two points of a study differ in one of these: series, nodes, ranks, workers.
using PointKey = std::tuple<std::string_view, std::int64_t, std::int64_t, std::int64_t>;

std::vector<Point> points_of(std::span<const AttributedRun> runs, StudySizes sizes)
{
  std::vector<Run> measured;
  for (const auto& run : runs) measured.push_back(run.measured);
  std::vector<Point> points;
  for (auto& row : scaling_of(measured, sizes)) points.push_back({.row = std::move(row), .runs = {}});
  std::map<PointKey, Point*> found;
  for (auto& point : points) found.try_emplace({point.row.label, point.row.nodes, point.row.ranks, point.row.workers}, &point);
  for (const auto& run : runs) {
    const auto& own = run.measured;
    const auto at = found.find({own.series, own.nodes, own.ranks, own.workers});
    if (at == found.end() || !own.succeeded || own.is_outlying) continue;
    auto& point = *at->second;
    if (log_factors(run, {})) {
      point.runs.push_back(&run);
      point.missing = point.missing | missing_of(run);
    } else {
      ++point.left_out;
    }
  }
  std::erase_if(points, [](const Point& point) { return point.runs.empty(); });
  return points;
}

// The factors of a point relative to its baseline, as logarithms, with 95 % intervals.
struct RelativeFactors {
  FactorArray logs{};
  FactorIntervals intervals{};
};

// Welch's intervals of the differences. Runs without scatter, as simulated ones, have none.
RelativeFactors relative_factors(const Logs& own, const Logs& base)
{
  RelativeFactors relative;
  for (std::size_t f = 0; f < factor_count; ++f) {
    const auto difference = difference_of_means(factor_moments(own, f), factor_moments(base, f));
    relative.logs[f] = difference.value;
    relative.intervals[f] = difference.standard_error > 0 ? confidence_interval(difference, 0.95) : no_interval;
  }
  return relative;
}

// Computes factors, efficiency and lost parts.
void take_factors(Attribution& point, const RelativeFactors& relative)
{
  const double log_efficiency = sum_of_known(relative.logs);
  point.efficiency = std::exp(log_efficiency);
  // (1 - E)/(-ln E) tends to 1 where E tends to 1.
  const double scale = std::abs(log_efficiency) < 1e-12 ? 1 : (1 - point.efficiency) / -log_efficiency;
  for (std::size_t f = 0; f < factor_count; ++f) {
    point.factors[f] = std::exp(relative.logs[f]);
    point.lost[f] = 0 - relative.logs[f] * scale; // not -0
    point.lost_intervals[f] = {-relative.intervals[f].high * scale, -relative.intervals[f].low * scale};
  }
  point.has_split = !std::isnan(relative.logs[index_of(Factor::batch)]);
}

// On an ideal machine every factor of the parallel run is 1; nothing is known about its computation.
FactorArray relative_to_ideal(const FactorArray& own)
{
  auto relative = own;
  relative[index_of(Factor::batch)] = not_measured;
  relative[index_of(Factor::contention)] = not_measured;
  return relative;
}

// Between parts of the same cores, a worker of a smaller part has fewer of them.
void count_per_core(RelativeFactors& relative, double workers_ratio)
{
  for (const auto factor : {Factor::batch, Factor::contention, Factor::together})
    if (auto& part = relative.logs[index_of(factor)]; !std::isnan(part)) {
      part += std::log(workers_ratio);
      auto& [low, high] = relative.intervals[index_of(factor)];
      low += std::log(workers_ratio);
      high += std::log(workers_ratio);
      return;
    }
}

// How far the computation of the baseline is from what one rank alone predicts, as a logarithm of at least 0. With one rank
// nobody contends, so this is the error of that prediction. NaN if the baseline has several ranks or no such measurement.
double lone_deviation_of(const Point& base)
{
  if (base.row.ranks != 1) return not_measured;
  const auto logs = logs_of(base, {}, base.missing);
  return lacks(logs, Factor::batch) ? not_measured : std::abs(factor_moments(logs, index_of(Factor::contention)).mean);
}

bool has_batch_of(const Point& own, const Point& base)
{
  return std::abs(own.runs.front()->batch_per_rank / base.runs.front()->batch_per_rank - 1) < 0.01;
}

// At another batch than the baseline's, what one rank alone predicts may be wrong by as much as it is at the baseline. That moves
// a part of the computation from the effect of the batch to contention or back.
void widen_split(Attribution& point, RelativeFactors& relative, const Point& own, const Point& base)
{
  if (std::isnan(relative.logs[index_of(Factor::batch)]) || has_batch_of(own, base)) return;
  point.lone_deviation = lone_deviation_of(base);
  if (std::isnan(point.lone_deviation)) return;
  for (const auto factor : {Factor::batch, Factor::contention}) {
    auto& [low, high] = relative.intervals[index_of(factor)];
    low -= point.lone_deviation;
    high += point.lone_deviation;
  }
}

RelativeFactors factors_relative_to(const Point& own, const Point& base, Reference reference, const MissingPhases& missing)
{
  auto own_logs = logs_of(own, {reference, pauses_alone(base)}, missing),
       base_logs = logs_of(base, {reference, pauses_alone(own)}, missing);
  if (lacks(own_logs, Factor::batch) || lacks(base_logs, Factor::batch))
    for (auto* logs : {&own_logs, &base_logs}) join_part(*logs, Factor::batch, Factor::contention);
  if (!knows_time_outside(own) || !knows_time_outside(base)) // or it would be a cost here and communication there
    for (auto* logs : {&own_logs, &base_logs}) join_part(*logs, Factor::outside, Factor::communication);
  return relative_factors(own_logs, base_logs);
}

void relate(Attribution& point, const Point& own, const Point& base)
{
  point.baseline_size = base.row.size;
  point.is_baseline = &own == &base;
  const double own_size = static_cast<double>(own.row.workers), base_size = static_cast<double>(base.row.workers);
  point.missing = own.missing | base.missing;
  point.reference = has_fast_worker(own) && has_fast_worker(base) ? Reference::fast_worker : Reference::mean_worker;
  auto relative = factors_relative_to(own, base, point.reference, point.missing);
  if (own.row.is_part) count_per_core(relative, own_size / base_size);
  widen_split(point, relative, own, base);
  if (point.is_baseline) relative.intervals = no_factor_intervals();
  take_factors(point, relative);
  const bool is_of_all_runs = own.left_out == 0 && base.left_out == 0; // then it is the interval of `results`
  if (!point.is_baseline && is_of_all_runs)
    point.interval = {own.row.efficiency_low, own.row.efficiency_high};
  else if (!point.is_baseline)
    point.interval = efficiency_interval(throughput_moments(own.runs), own.row.is_part ? 1 : own_size / base_size,
                                         throughput_moments(base.runs), 1);
  point.statistical_efficiency = samples_to_target(base.runs) / samples_to_target(own.runs);
  point.time_efficiency = point.efficiency * point.statistical_efficiency;
  const bool has_servers = own.row.workers != own.row.ranks || base.row.workers != base.row.ranks;
  if (has_servers && !own.row.is_part)
    point.efficiency_per_process =
        point.efficiency * own_size / static_cast<double>(own.row.ranks) * static_cast<double>(base.row.ranks) / base_size;
}

void relate_to_ideal(Attribution& point, const Point& own)
{
  point.missing = own.missing;
  Logs runs;
  std::vector<double> efficiencies;
  for (const auto& logs : logs_of(own, {point.reference}, own.missing)) {
    runs.push_back(relative_to_ideal(logs));
    efficiencies.push_back(sum_of_known(runs.back()));
  }
  take_factors(point, relative_factors(runs, {filled_with(0)}));
  if (own.missing.communication || own.missing.work) {
    point.efficiency = not_measured;
    point.lost = point.factors = filled_with(not_measured);
    return;
  }
  const auto interval = confidence_interval(mean_of(moments_of(efficiencies)), 0.95);
  point.interval = {std::exp(interval.low), std::exp(interval.high)};
}

// Shares of the measured time.
BetweenEpochs between_of(const Runs& runs)
{
  const auto mean = [&](double BetweenEpochs::*part) {
    return centre_of_figure(runs, Scale::difference,
                            [part](const AttributedRun& run) { return run.between.*part / run.measured_s; });
  };
  return {mean(&BetweenEpochs::loader_s), mean(&BetweenEpochs::checkpoint_s), mean(&BetweenEpochs::other_s)};
}

double throttled_share_of(const Point& point)
{
  double most = not_measured;
  for (const auto* run : point.runs) most = std::fmax(most, run->throttled_share); // fmax ignores NaN
  return most;
}

void take_throttling(Attribution& point, const Point& own, const Point* base)
{
  point.throttled_share = std::fmax(throttled_share_of(own), base ? throttled_share_of(*base) : not_measured);
  if (!point.is_throttled()) return;
  point.factors = point.lost = filled_with(not_measured);
  point.lost_intervals = no_factor_intervals();
}

Attribution attribution_of(const Point& own, const Point* base)
{
  Attribution point{.label = own.row.label,
                    .nodes = own.row.nodes,
                    .ranks = own.row.ranks,
                    .workers = own.row.workers,
                    .size = own.row.size,
                    .runs = static_cast<std::int64_t>(own.runs.size()),
                    .left_out = own.left_out};
  point.is_part = own.row.is_part;
  if (base)
    relate(point, own, *base);
  else
    relate_to_ideal(point, own);
  take_throttling(point, own, base);
  take_latest_host(point, own.runs);
  point.communication = communication_of(own.runs);
  point.between = between_of(own.runs);
  return point;
}

// The point that `own` is compared with: `first`, the first of its label, if that is the label's baseline. Null: the ideal
// machine.
const Point* base_of(const Point& own, const Point& first)
{
  return own.row.baseline_size != 0 && first.row.size == own.row.baseline_size ? &first : nullptr;
}

} // namespace

MissingPhases operator|(const MissingPhases& a, const MissingPhases& b)
{
  return {a.input || b.input, a.communication || b.communication, a.work || b.work};
}

bool Attribution::is_throttled() const { return throttled_share >= least_throttled_share; }

std::optional<FactorArray> log_factors(const AttributedRun& run, const Compared& other)
{
  const bool has_busy_sums = run.work.busy_step_max_s > 0;
  if (!has_useful_sums(run) || (!has_busy_sums && !run.is_own_program)) return undivided(run);
  const auto& work = run.work;
  const auto samples = static_cast<double>(run.samples), workers = static_cast<double>(run.measured.workers);
  const auto [step_s, worker_s] = fast_worker_of(run, other); // R and m
  auto logs = filled_with(not_measured);
  const double lone_s = lone_useful_s(run);
  if (lone_s > 0) logs[index_of(Factor::batch)] = std::log(samples / lone_s);
  logs[index_of(Factor::contention)] = std::log((lone_s > 0 ? lone_s : samples) / (workers * step_s));
  logs[index_of(Factor::load_balance)] = std::log(worker_s / work.useful_max_s);
  logs[index_of(Factor::jitter)] = std::log(step_s / worker_s) + std::log(work.useful_max_s / work.useful_step_max_s);
  if (!has_busy_sums) {
    logs[index_of(Factor::together)] = std::log(work.useful_step_max_s / run.measured_s);
    return logs;
  }
  double known_s = work.busy_step_max_s; // what the factors so far account for
  logs[index_of(Factor::input)] = std::log(work.useful_step_max_s / known_s);
  const auto split_off = [&](Factor factor, double longer_s) {
    logs[index_of(factor)] = std::log(known_s / longer_s);
    known_s = longer_s;
  };
  if (work.paused_step_max_s > 0) split_off(Factor::between, work.paused_step_max_s);
  if (work.occupied_step_max_s > 0)
    split_off(Factor::outside, std::max(known_s, std::min(work.occupied_step_max_s, run.measured_s)));
  logs[index_of(Factor::communication)] = std::log(known_s / run.measured_s);
  split_queueing(logs, run, known_s);
  return logs;
}

std::vector<Attribution> attributions_of(std::span<const AttributedRun> runs, StudySizes sizes)
{
  const auto points = points_of(runs, sizes);
  std::vector<Attribution> attributions;
  std::map<std::string_view, const Point*> first; // of each label
  for (const auto& point : points)
    attributions.push_back(attribution_of(point, base_of(point, *first.try_emplace(point.row.label, &point).first->second)));
  const bool is_mixed = std::any_of(attributions.begin(), attributions.end(), [](const Attribution& point) {
    return !point.has_split && std::isfinite(point.lost[index_of(Factor::contention)]);
  });
  for (auto& point : attributions) point.is_in_mixed_study = is_mixed;
  return attributions;
}

} // namespace dt::store
