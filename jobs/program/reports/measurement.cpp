#include "jobs/program/reports/measurement.hpp"

#include "core/counted.hpp"
#include "core/maths/statistics.hpp"
#include "core/record/measuring/caveats.hpp"
#include "core/record/measuring/fast_worker.hpp"
#include "core/record/measuring/slow_start.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr PhaseStats no_times{not_measured, not_measured, not_measured, not_measured, not_measured, not_measured};

PhaseStats summary_of(std::vector<double> seconds)
{
  const bool is_partial = std::any_of(seconds.begin(), seconds.end(), [](double s) { return std::isnan(s); });
  if (seconds.empty() || is_partial) return no_times;
  std::sort(seconds.begin(), seconds.end());
  const std::span<const double> ascending(seconds);
  const double total_s = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return {.total_s = total_s,
          .mean_s = total_s / static_cast<double>(seconds.size()),
          .p50_s = quantile_of_sorted(ascending, 0.50),
          .p95_s = quantile_of_sorted(ascending, 0.95),
          .p99_s = quantile_of_sorted(ascending, 0.99),
          .max_s = seconds.back()};
}

double at(const StepLine& step, Phase phase) { return step.phase_s[static_cast<std::size_t>(phase)]; }

// A rank alone need not report that it does not communicate.
double communication_of(const StepLine& step, std::int64_t ranks)
{
  const double time_s = at(step, Phase::communication);
  return ranks == 1 && std::isnan(time_s) ? 0 : time_s;
}

double useful_of(const StepLine& step)
{
  return at(step, Phase::forward) + at(step, Phase::backward) + at(step, Phase::optimizer);
}

// NaN if one of the values is.
double largest(const std::vector<double>& values)
{
  double found = values.empty() ? not_measured : 0;
  for (const double value : values) found = std::isnan(value) || std::isnan(found) ? not_measured : std::max(found, value);
  return found;
}

Divergence divergence_of(const RankReport& report)
{
  Divergence divergence;
  for (const auto& step : report.steps) divergence.add_step(step.step, step.loss);
  for (const auto& evaluation : report.evaluations) divergence.add_evaluation(evaluation.step, evaluation.loss);
  return divergence;
}

double sum_of(const BetweenEpochs& between) { return between.loader_s + between.checkpoint_s + between.other_s; }

void add(BetweenEpochs& sum, const BetweenEpochs& between)
{
  sum.loader_s += between.loader_s;
  sum.checkpoint_s += between.checkpoint_s;
  sum.other_s += between.other_s;
}

std::int64_t count_of(double value) { return std::isnan(value) ? not_counted : std::llround(value); }

// Steps that were done before this attempt, or before the ranks were started again. A program that does not say so may have gone
// on from a checkpoint of an earlier attempt, unless it prints the number 1 for its first step.
std::optional<std::int64_t> steps_before(int attempt, const RankReport& report)
{
  if (report.begin) return report.begin->step;
  const bool begins_at_1 = report.is_numbered && !report.steps.empty() && report.steps.front().step == 1;
  const bool is_first = attempt == 1 && report.restarts() == 0;
  return is_first || begins_at_1 ? std::optional<std::int64_t>(0) : std::nullopt;
}

bool is_behind_warm_up(const RunSpec& spec, int attempt, const RankReport& report, std::size_t line)
{
  const auto before = steps_before(attempt, report);
  if (line == 0) return before && spec.train.warmup_steps == 0;
  return report.steps[line - 1].step >= before.value_or(report.steps.front().step) + spec.train.warmup_steps;
}

} // namespace

// Every attempt leaves out its own warm-up steps, and a step of unknown length. A line may stand for many steps: those since the
// line before it. If it is not known where the attempt began, its first line is left out, and the warm-up is counted from there.
bool is_measured(const RunSpec& spec, int attempt, const RankReport& report, std::size_t line)
{
  const auto& step = report.steps[line];
  if (std::isnan(step.step_s) || report.gap || (report.skips_unknown_samples && std::isnan(step.samples))) return false;
  return is_behind_warm_up(spec, attempt, report, line);
}

std::string words_of_restarts(int restarts)
{
  return "torchrun restarted the workers " + counted(restarts, "time") + "; the figures are of the training since then";
}

std::size_t ProgramMeasurement::ranks_with_steps() const
{
  return static_cast<std::size_t>(
      std::count_if(reported_.begin(), reported_.end(), [](const RankOutline& rank) { return rank.last_step > 0; }));
}

// It reports no steps, although not only rank 0 does. Rank 0 alone may report the samples of all.
bool ProgramMeasurement::is_silent(const RankOutline& rank) const
{
  return rank.last_step == 0 && latest_step_ > 0 && !rank.is_server && (rank.rank == 0 || ranks_with_steps() > 1);
}

// It ended at an earlier step than another rank, and did not say that this was its end.
bool ProgramMeasurement::has_stopped(const RankOutline& rank) const
{
  return rank.last_step > 0 && rank.last_step < latest_step_ && !rank.has_result && ranks_with_steps() > 1;
}

// Their samples do not add up, so what needs them counts as not measured.
bool ProgramMeasurement::are_copies() const
{
  return std::ranges::any_of(caveats_, [](const CaveatLine& caveat) { return caveat.kind == "copies"; });
}

bool ProgramMeasurement::is_complete() const
{
  const bool trains_elsewhere =
      std::ranges::any_of(caveats_, [](const CaveatLine& caveat) { return caveat.kind == "processes"; });
  return !trains_elsewhere && std::none_of(reported_.begin(), reported_.end(),
                                           [&](const RankOutline& rank) { return is_silent(rank) || has_stopped(rank); });
}

std::vector<CaveatLine> ProgramMeasurement::gaps() const
{
  std::vector<CaveatLine> found;
  const auto unknown = "the throughput is not known, because a part of the samples is missing";
  for (const auto& rank : reported_) {
    if (is_silent(rank))
      found.push_back({"reports", fmt::format("rank {} reported no steps, although other ranks did: {}", rank.rank, unknown)});
    if (has_stopped(rank))
      found.push_back({"reports", fmt::format("rank {} reported its last step at {} of {} and no result: {}", rank.rank,
                                              rank.last_step, latest_step_, unknown)});
  }
  if (found.empty() && ranks_with_steps() == 1 && workers() > 1 && !root_.is_printed)
    found.push_back({"reports", fmt::format("only rank 0 of {} ranks reported steps; its samples count as those of all ranks",
                                            reported_.size())});
  for (const auto& doubt : printed_rate_.doubts) found.push_back({"metrics", doubt});
  if (!clock_doubt_.empty() && spec_.train.target_accuracy > 0)
    found.push_back({"time", "the time to the target is not known: " + clock_doubt_ +
                                 ". A program that keeps its output in a buffer must flush each line"});
  return found;
}

// A program that is read through its output does not say when its training begins: a step before its first line, if it says how
// long that took; else when the program started. Output that was kept back in a buffer tells no times.
void ProgramMeasurement::set_clock_of_lines(const RankReport& report)
{
  constexpr double shortest_s = 1, tolerance_s = 0.6; // lines are read four times a second
  std::vector<double> clocks_s;
  for (const auto& step : report.steps) clocks_s.push_back(step.clock_s);
  for (const auto& evaluation : report.evaluations) clocks_s.push_back(evaluation.clock_s);
  if (clocks_s.empty()) return;
  const auto [first, last] = std::minmax_element(clocks_s.begin(), clocks_s.end());
  const double span_s = *last - *first, whole_s = *last - report.started_clock_s;
  double steps_s = 0;
  for (std::size_t i = 1; i < report.steps.size(); ++i)
    if (!std::isnan(report.steps[i].step_s)) steps_s += report.steps[i].step_s;
  if (steps_s > 1.05 * span_s + tolerance_s)
    clock_doubt_ = fmt::format("its steps took {} by program.metrics.step_s, but their lines came within {}",
                               format_duration(steps_s), format_duration(span_s));
  else if (whole_s < shortest_s)
    clock_doubt_ = "it ran for less than a second, and lines are read four times a second";
  else if (clocks_s.size() > 1 && span_s == 0)
    clock_doubt_ = fmt::format("all of its lines came at once, {} after its start", format_duration(whole_s));
  const bool has_time = !report.steps.empty() && !std::isnan(report.steps.front().step_s);
  const double start_s = has_time ? report.steps.front().clock_s - report.steps.front().step_s : report.started_clock_s;
  if (clock_doubt_.empty()) first_clock_s_ = start_s;
}

void ProgramMeasurement::add_root(const RankReport& report)
{
  root_ = report;
  root_.steps.clear();
  printed_rate_ = rate_of_run(report, spec_.program.throughput,
                              [&](std::size_t line) { return is_behind_warm_up(spec_, attempt_, report, line); });
  first_step_ = steps_before(attempt_, report);
  if (report.begin)
    first_clock_s_ = report.begin->clock_s;
  else if (report.is_printed)
    set_clock_of_lines(report);
  if (report.steps.empty()) return;
  for (const auto& step : report.steps) root_steps_.push_back(step.step);
  if (!report.gap || report.steps.size() > report.gap->steps) final_loss_ = report.steps.back().loss;
  last_clock_s_ = report.steps.back().clock_s;
  if (!report.evaluations.empty()) last_clock_s_ = std::max(last_clock_s_, report.evaluations.back().clock_s);
}

std::size_t ProgramMeasurement::workers() const
{
  return static_cast<std::size_t>(std::ranges::count_if(reported_, [](const RankOutline& rank) { return !rank.is_server; }));
}

// Ranks that keep in step by themselves are taken to meet at every step.
std::int64_t ProgramMeasurement::interval_of(const RankReport& report, const StepLine& step) const
{
  const auto steps = report.sync ? report.sync->between_meetings : 1;
  return steps == 0 ? 0 : (step.step - 1) / steps;
}

void ProgramMeasurement::add_intervals(const std::map<std::int64_t, OwnInterval>& own)
{
  const int index = static_cast<int>(ranks_.size());
  std::vector<double> useful_s;
  for (const auto& [number, time] : own) {
    auto& sums = intervals_[number];
    useful_s.push_back(time.useful_s);
    sums.useful_max_s = largest({sums.useful_max_s, time.useful_s});
    if (sums.latest < 0 || time.busy_s > sums.busy_max_s) sums.latest = index;
    sums.busy_max_s = largest({sums.busy_max_s, time.busy_s});
    sums.paused_max_s = largest({sums.paused_max_s, time.paused_s});
    sums.occupied_max_s = largest({sums.occupied_max_s, time.occupied_s});
    sums.busy_sum_s += time.busy_s;
  }
  if (own.empty()) return;
  useful_s_.push_back(std::accumulate(useful_s.begin(), useful_s.end(), 0.0));
  useful_steps_s_.push_back(std::move(useful_s));
}

void ProgramMeasurement::add(const RankReport& report)
{
  if (ranks_.empty()) add_root(report);
  const auto last_step = report.steps.empty() ? 0 : report.steps.back().step;
  latest_step_ = std::max(latest_step_, last_step);
  reported_.push_back({report.start.rank, last_step, report.result.has_value(), report.sync && report.sync->is_server});
  divergences_.push_back(divergence_of(report));
  caveats_.insert(caveats_.end(), report.caveats.begin(), report.caveats.end());
  std::vector<double> step_s, evaluation_s;
  std::vector<std::int64_t> numbers;
  double samples = 0;
  std::int64_t steps = 0;
  std::array<std::vector<double>, phase_count> phase_s;
  std::map<std::int64_t, OwnInterval> intervals;
  if (report.steps.size() > sums_.size()) sums_.resize(report.steps.size());
  for (std::size_t line = 0; line < report.steps.size(); ++line) {
    const auto& step = report.steps[line];
    sums_[line].samples += step.samples;
    if (!is_measured(spec_, attempt_, report, line)) continue;
    sums_[line].is_measured = true;
    samples += step.samples;
    steps += step.step - (line > 0 ? report.steps[line - 1].step : step.step - 1); // a printed line may stand for many
    step_s.push_back(step.step_s);
    numbers.push_back(step.step);
    for (std::size_t i = 0; i < phase_count; ++i) phase_s[i].push_back(step.phase_s[i]);
    auto& own = intervals[interval_of(report, step)];
    own.useful_s += useful_of(step);
    own.busy_s += useful_of(step) + at(step, Phase::input);
    own.paused_s += useful_of(step) + at(step, Phase::input) + sum_of(step.between);
    own.occupied_s += step.step_s - communication_of(step, spec_.ranks());
    dt::jobs::add(between_, step.between);
  }
  for (const auto& evaluation : report.evaluations)
    if (!report.gap) evaluation_s.push_back(evaluation.eval_s);
  for (const auto& [age, updates] : report.staleness) updates_[age] += updates;

  RankRecord record;
  record.rank = report.start.rank;
  record.host = report.start.host;
  if (reported_.back().is_server) record.role = "server";
  record.bytes_sent = report.traffic ? report.traffic->bytes : not_counted;
  record.messages_sent = report.traffic ? report.traffic->messages : not_counted;
  record.memory_peak_bytes = count_of(report.memory_bytes);
  record.step = summary_of(step_s);
  for (std::size_t i = 0; i < phase_count; ++i) record.phases[i] = summary_of(phase_s[i]);
  record.phases[static_cast<std::size_t>(Phase::evaluation)] = summary_of(evaluation_s);
  add_intervals(intervals);
  look_for_slow_start(step_s, numbers);
  ranks_.push_back(std::move(record));
  if (step_s.empty()) return;
  step_samples_.push_back(samples / static_cast<double>(std::max<std::int64_t>(1, steps)));
  measured_s_.push_back(ranks_.back().step.total_s);
  communication_s_.push_back(ranks_.back().phases[static_cast<std::size_t>(Phase::communication)].total_s);
}

void ProgramMeasurement::add_throughput(RunResult& result) const
{
  double samples = 0, steps = 0, share = 0;
  for (const auto& step : sums_)
    if (step.is_measured) ++steps, samples += step.samples;
  if (steps == 0 || !counts_samples()) samples = not_measured;
  result.measured_samples = count_of(samples);
  if (result.measured_samples > 0) result.step_samples = std::accumulate(step_samples_.begin(), step_samples_.end(), 0.0);
  if (are_copies() && !step_samples_.empty()) result.step_samples = step_samples_.front(); // of one training
  result.measured_s = largest(measured_s_);
  result.throughput = result.measured_s > 0 ? samples / result.measured_s : not_measured;
  if (!std::isnan(printed_rate_.value) && !are_copies()) result.throughput = printed_rate_.value;
  for (std::size_t i = 0; i < measured_s_.size(); ++i) share += communication_s_[i] / measured_s_[i];
  result.communication_share = measured_s_.empty() ? not_measured : share / static_cast<double>(measured_s_.size());
}

// The useful time of a fast worker (core/record/measuring/fast_worker.hpp), from the steps of all ranks. Not measured if not all
// ranks have the same measured steps.
void ProgramMeasurement::add_fast_worker(WorkSums& work) const
{
  const auto steps = useful_steps_s_.front().size();
  if (std::any_of(useful_steps_s_.begin(), useful_steps_s_.end(), [&](const auto& row) { return row.size() != steps; })) return;
  work.useful_fast_s = fast_sum_s(useful_s_);
  const auto fast = fast_steps({useful_steps_s_.begin(), useful_steps_s_.end()});
  work.useful_step_fast_s = fast.useful_s;
  work.common_pauses_s = fast.common_pauses_s;
  work.pauses_s = fast.pauses_s;
}

// The sums of attribution need the phases of all ranks.
void ProgramMeasurement::add_work(RunResult& result) const
{
  if (useful_s_.empty() || useful_s_.size() != workers() || !counts_samples()) return;
  auto& work = result.work;
  work = {std::accumulate(useful_s_.begin(), useful_s_.end(), 0.0), largest(useful_s_), 0, 0};
  if (std::isnan(work.useful_s)) { // a rank did not report forward, backward or optimizer
    work = no_work_sums;
    return;
  }
  add_fast_worker(work);
  work.paused_step_max_s = root_.is_observed() ? 0 : not_measured; // others do not report it
  work.occupied_step_max_s = 0;
  std::vector<double> late_s(ranks_.size(), 0);
  for (const auto& [number, sums] : intervals_) {
    work.useful_step_max_s += sums.useful_max_s;
    work.busy_step_max_s += sums.busy_max_s;
    work.paused_step_max_s += sums.paused_max_s;
    work.occupied_step_max_s += sums.occupied_max_s;
    late_s[static_cast<std::size_t>(sums.latest)] += sums.busy_max_s - sums.busy_sum_s / static_cast<double>(workers());
  }
  if (std::isnan(work.busy_step_max_s)) return; // a rank did not report input, so nobody knows who was late
  for (std::size_t i = 0; i < late_s.size(); ++i)
    if (!reported_[i].is_server) result.ranks[i].late_s = late_s[i];
}

// Times count from begin(), or as set_clock_of_lines says. What an attempt before this one needed is not known.
void ProgramMeasurement::add_to_target(RunResult& result) const
{
  const double target = spec_.train.target_accuracy;
  const auto is_known = [](const EvaluationLine& evaluation) { return evaluation.accuracy.has_value(); };
  if (first_step_ != 0 || root_.gap || std::none_of(root_.evaluations.begin(), root_.evaluations.end(), is_known)) {
    result.samples_to_accuracy = not_counted;
    return;
  }
  const auto reached = [&](const EvaluationLine& evaluation) {
    return target > 0 && or_not_measured(evaluation.accuracy) >= target;
  };
  const auto first = std::find_if(root_.evaluations.begin(), root_.evaluations.end(), reached);
  if (first == root_.evaluations.end()) return;
  result.time_to_accuracy_s = first->clock_s - first_clock_s_;
  double samples = 0;
  for (std::size_t i = 0; i < root_steps_.size() && root_steps_[i] <= first->step; ++i) samples += sums_[i].samples;
  const bool counts_lines =
      root_.is_time_per_step && !root_steps_.empty() && std::cmp_less(root_steps_.size(), root_steps_.back());
  result.samples_to_accuracy = count_of(sums_.empty() || !counts_samples() || counts_lines ? not_measured : samples);
}

// An evaluation that is printed may have only one of the two figures. The last ones before a gap in the output need not be the
// final ones, and which was the best is not known then.
void ProgramMeasurement::add_scores(RunResult& result) const
{
  result.final_loss = final_loss_;
  for (const auto& evaluation : std::span(root_.evaluations).subspan(root_.gap ? root_.gap->evaluations : 0)) {
    if (evaluation.accuracy) result.accuracy = evaluation.accuracy;
    if (evaluation.loss) result.eval_loss = evaluation.loss;
    if (!root_.gap)
      result.best_accuracy = std::fmax(result.best_accuracy, or_not_measured(evaluation.accuracy)); // NaN is not the best
  }
  for (std::size_t i = 0; i < divergences_.size(); ++i)
    divergences_[i].fill(result, i == 0 ? "" : fmt::format("of rank {}", reported_[i].rank));
}

// Copies the figures that the library dtctl_sync has reported for its strategy. Without it they are not measured.
void ProgramMeasurement::add_sync(RunResult& result) const
{
  result.isolated_communication_s = root_.isolated_s;
  result.noise = root_.noise_in_batches.times(result.step_samples / static_cast<double>(workers()));
  result.buckets = root_.buckets;
  result.weights_hash = root_.weights_hash;
  for (const auto& choice : root_.choices) result.facts[choice.name] = choice.text;
  std::vector<double> ages;
  for (const auto& [age, updates] : updates_)
    ages.insert(ages.end(), static_cast<std::size_t>(updates), static_cast<double>(age));
  if (ages.empty()) return;
  result.staleness = {.updates = static_cast<std::int64_t>(ages.size()),
                      .mean = std::accumulate(ages.begin(), ages.end(), 0.0) / static_cast<double>(ages.size()),
                      .p95 = ages[static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(ages.size()))) - 1],
                      .max = ages.back()};
}

// The mean over the ranks that reported steps.
void ProgramMeasurement::add_between(RunResult& result) const
{
  if (!root_.is_observed() || measured_s_.empty()) return;
  const auto ranks = static_cast<double>(measured_s_.size());
  result.between = {between_.loader_s / ranks, between_.checkpoint_s / ranks, between_.other_s / ranks};
}

void ProgramMeasurement::add_caveats(RunResult& result) const
{
  for (const auto& caveat : caveats_) add_caveat(result.caveats, caveat.kind, caveat.sentence);
  for (const auto& gap : gaps()) add_caveat(result.caveats, gap.kind, gap.sentence);
  if (!slow_start_.empty()) add_caveat(result.caveats, "warm-up", slow_start_);
}

// Notes a slow start of one rank. `numbers`: of its measured steps; train.warmup_steps counts from the first step of an attempt.
void ProgramMeasurement::look_for_slow_start(const std::vector<double>& step_s, const std::vector<std::int64_t>& numbers)
{
  const auto start = slow_start_of(step_s);
  if (start && slow_start_.empty() && first_step_)
    slow_start_ = words_of(*start, step_s.size(), numbers[start->steps - 1] - *first_step_);
}

RunResult ProgramMeasurement::result() const
{
  RunResult result;
  result.unix_s = now_unix_s();
  // Not only the lines that were read.
  const bool counts_all = root_.is_count_known && ((first_step_ && !root_.gap) || root_.is_numbered);
  result.steps = root_steps_.empty() || !counts_all ? not_counted : root_steps_.back();
  result.warmup_steps = result.resumed_step = not_counted;
  if (first_step_) result.resumed_step = *first_step_;
  if (first_step_ && counts_all && !root_steps_.empty())
    result.warmup_steps = std::min(root_steps_.back() - *first_step_, spec_.train.warmup_steps);
  result.ranks = ranks_;
  add_throughput(result);
  add_work(result);
  result.wall_s = last_clock_s_ - first_clock_s_;
  add_scores(result);
  result.parameters = count_of(root_.result ? root_.result->parameters : not_measured);
  result.flops = root_.flops;
  add_to_target(result);
  add_sync(result);
  add_between(result);
  add_caveats(result);
  if (root_.restarts() > 0) result.facts["restarts"] = words_of_restarts(root_.restarts());
  if (const auto with_steps = ranks_with_steps(); with_steps > 0 && with_steps < workers() && !root_.is_printed)
    result.facts["ranks that reported steps"] = fmt::format("{} of {}", with_steps, workers());
  for (const auto& rank : reported_)
    if (rank.last_step > 0 && rank.last_step < latest_step_ && ranks_with_steps() > 1)
      result.facts[fmt::format("last step of rank {}", rank.rank)] = fmt::format("{} of {}", rank.last_step, latest_step_);
  return result;
}

} // namespace dt::jobs
