#include "jobs/program/measurement.hpp"

#include "core/statistics.hpp"
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

std::int64_t count_of(double value) { return std::isnan(value) ? not_counted : std::llround(value); }

} // namespace

void RankReport::take(const ReportLine& line)
{
  struct Taker {
    RankReport& report;
    void operator()(std::monostate) const { ++report.damaged_lines; }
    void operator()(const RankLine& start) const { report.start = start; }
    void operator()(const BeginLine& begin) const { report.begin = begin; }
    void operator()(const StepLine& step) const { report.steps.push_back(step); }
    void operator()(const EvaluationLine& evaluation) const { report.evaluations.push_back(evaluation); }
    void operator()(const MemoryLine& memory) const { report.memory_bytes = memory.bytes; }
    void operator()(const ErrorLine& error) const
    {
      if (!report.error) report.error = error;
    }
    void operator()(const ResultLine& result) const { report.result = result; }
  };
  std::visit(Taker{*this}, line);
}

// Every attempt leaves out its own warm-up steps, and a step of unknown length. A line may stand for many steps: those since the
// line before it.
bool ProgramMeasurement::is_measured(const RankReport& report, std::size_t line) const
{
  const auto before = report.begin ? report.begin->step : 0;
  const auto begun_at = line == 0 ? before : report.steps[line - 1].step;
  return begun_at >= before + spec_.train.warmup_steps && !std::isnan(report.steps[line].step_s);
}

void ProgramMeasurement::add_root(const RankReport& report)
{
  root_ = report;
  root_.steps.clear();
  first_step_ = report.begin ? report.begin->step : 0;
  if (report.steps.empty()) return;
  for (const auto& step : report.steps) root_steps_.push_back(step.step);
  final_loss_ = report.steps.back().loss;
  last_clock_s_ = report.steps.back().clock_s;
  if (!report.evaluations.empty()) last_clock_s_ = std::max(last_clock_s_, report.evaluations.back().clock_s);
}

void ProgramMeasurement::add(const RankReport& report)
{
  if (ranks_.empty()) add_root(report);
  const int index = static_cast<int>(ranks_.size());
  std::vector<double> step_s, evaluation_s;
  std::array<std::vector<double>, phase_count> phase_s;
  double useful_s = 0;
  if (report.steps.size() > sums_.size()) sums_.resize(report.steps.size());
  for (std::size_t line = 0; line < report.steps.size(); ++line) {
    const auto& step = report.steps[line];
    auto& sums = sums_[line];
    sums.samples += step.samples;
    if (!is_measured(report, line)) continue;
    sums.is_measured = true;
    step_s.push_back(step.step_s);
    for (std::size_t i = 0; i < phase_count; ++i) phase_s[i].push_back(step.phase_s[i]);
    const double useful = useful_of(step), busy = useful + at(step, Phase::input);
    useful_s += useful;
    sums.useful_max_s = largest({sums.useful_max_s, useful});
    if (sums.latest < 0 || busy > sums.busy_max_s) sums.latest = index;
    sums.busy_max_s = largest({sums.busy_max_s, busy});
    sums.busy_sum_s += busy;
  }
  for (const auto& evaluation : report.evaluations) evaluation_s.push_back(evaluation.eval_s);

  RankRecord record;
  record.rank = report.start.rank;
  record.host = report.start.host;
  record.bytes_sent = record.messages_sent = not_counted;
  record.memory_peak_bytes = count_of(report.memory_bytes);
  record.step = summary_of(step_s);
  for (std::size_t i = 0; i < phase_count; ++i) record.phases[i] = summary_of(phase_s[i]);
  record.phases[static_cast<std::size_t>(Phase::evaluation)] = summary_of(evaluation_s);
  ranks_.push_back(std::move(record));
  if (step_s.empty()) return;
  useful_s_.push_back(useful_s);
  measured_s_.push_back(ranks_.back().step.total_s);
  communication_s_.push_back(ranks_.back().phases[static_cast<std::size_t>(Phase::communication)].total_s);
}

void ProgramMeasurement::add_throughput(RunResult& result) const
{
  double samples = 0, steps = 0, share = 0;
  for (const auto& step : sums_)
    if (step.is_measured) ++steps, samples += step.samples;
  if (steps == 0) samples = not_measured;
  result.measured_samples = count_of(samples);
  result.measured_s = largest(measured_s_);
  result.throughput = result.measured_s > 0 ? samples / result.measured_s : not_measured;
  if (!std::isnan(root_.throughput)) result.throughput = root_.throughput;
  for (std::size_t i = 0; i < measured_s_.size(); ++i) share += communication_s_[i] / measured_s_[i];
  result.communication_share = measured_s_.empty() ? not_measured : share / static_cast<double>(measured_s_.size());
}

// The sums of attribution need the phases of all ranks, which meet at every step.
void ProgramMeasurement::add_work(RunResult& result) const
{
  if (useful_s_.empty() || useful_s_.size() != ranks_.size()) return;
  auto& work = result.work;
  work = {std::accumulate(useful_s_.begin(), useful_s_.end(), 0.0), largest(useful_s_), 0, 0};
  std::vector<double> late_s(ranks_.size(), 0);
  for (const auto& step : sums_) {
    if (!step.is_measured) continue;
    work.useful_step_max_s += step.useful_max_s;
    work.busy_step_max_s += step.busy_max_s;
    late_s[static_cast<std::size_t>(step.latest)] += step.busy_max_s - step.busy_sum_s / static_cast<double>(ranks_.size());
  }
  if (std::isnan(work.busy_step_max_s)) { // a rank reported no phases
    work = {not_measured, not_measured, not_measured, not_measured};
    return;
  }
  for (std::size_t i = 0; i < late_s.size(); ++i) result.ranks[i].late_s = late_s[i];
}

// Times count from begin(). What an attempt before this one needed is not known.
void ProgramMeasurement::add_to_target(RunResult& result) const
{
  const double target = spec_.train.target_accuracy;
  const auto reached = [&](const EvaluationLine& evaluation) { return target > 0 && evaluation.accuracy >= target; };
  const auto first = std::find_if(root_.evaluations.begin(), root_.evaluations.end(), reached);
  if (first_step_ > 0) result.samples_to_accuracy = not_counted;
  if (first == root_.evaluations.end() || first_step_ > 0) return;
  if (root_.begin) result.time_to_accuracy_s = first->clock_s - root_.begin->clock_s;
  double samples = 0;
  for (std::size_t i = 0; i < root_steps_.size() && root_steps_[i] <= first->step; ++i) samples += sums_[i].samples;
  result.samples_to_accuracy = count_of(sums_.empty() ? not_measured : samples);
}

RunResult ProgramMeasurement::result() const
{
  RunResult result;
  result.unix_s = now_unix_s();
  result.steps = root_steps_.empty() ? not_counted : root_steps_.back();
  result.warmup_steps = root_steps_.empty() ? not_counted : std::min(root_steps_.back() - first_step_, spec_.train.warmup_steps);
  result.resumed_step = first_step_;
  result.ranks = ranks_;
  add_throughput(result);
  add_work(result);
  result.wall_s = root_.begin ? last_clock_s_ - root_.begin->clock_s : not_measured;
  result.final_loss = final_loss_;
  result.parameters = count_of(root_.result ? root_.result->parameters : not_measured);
  if (!root_.evaluations.empty()) {
    result.accuracy = root_.evaluations.back().accuracy;
    result.eval_loss = root_.evaluations.back().loss;
    for (const auto& evaluation : root_.evaluations) result.best_accuracy = std::fmax(result.best_accuracy, evaluation.accuracy);
  }
  add_to_target(result);
  if (useful_s_.size() > 1 && useful_s_.size() < ranks_.size())
    result.facts["ranks that reported steps"] = fmt::format("{} of {}", useful_s_.size(), ranks_.size());
  return result;
}

} // namespace dt::jobs
