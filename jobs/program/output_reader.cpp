#include "jobs/program/output_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr double most_steps = 1e15;

double value_of(const std::map<std::string, double>& figures, const std::string& name)
{
  const auto found = figures.find(name);
  return found == figures.end() ? not_measured : found->second;
}

// What the figure must be; empty if the value is possible.
std::string demand_of(const std::string& name, double value)
{
  if (name == "loss" || name == "eval_loss" || name == "learning_rate") return {};
  const bool is_quantity = value >= 0 && std::isfinite(value);
  if (name == "accuracy" && !(is_quantity && value <= 1))
    return "an accuracy lies between 0 and 1; use accuracy_percent if the program prints percent";
  if (name == "accuracy_percent" && !(is_quantity && value <= 100)) return "a percentage lies between 0 and 100";
  if (name == "step" && value > most_steps) return "no program makes so many steps";
  return is_quantity ? "" : "it must be a finite number of at least 0";
}

} // namespace

OutputReader::OutputReader(const std::map<std::string, std::string>& metrics)
{
  for (const auto& [name, text] : metrics) patterns_.emplace(name, Pattern(text));
}

// The possible figures of a line. An impossible one is NaN.
OutputReader::Figures OutputReader::figures_in(const std::string& line)
{
  Figures figures;
  for (const auto& [name, pattern] : patterns_) {
    if (name == "result") {
      if (pattern.is_in(line)) seen_.insert(name);
      continue;
    }
    const auto number = pattern.number_in(line);
    if (!number) continue;
    const auto demand = demand_of(name, *number);
    figures[name] = demand.empty() ? *number : not_measured;
    if (demand.empty()) {
      seen_.insert(name);
      continue;
    }
    const auto [refusal, is_new] =
        refusals_.emplace(name, fmt::format("program.metrics.{} found {}, but {}", name, *number, demand));
    if (is_new) new_refusals_.push_back(refusal->second);
  }
  return figures;
}

void OutputReader::take(const std::string& line, RankReport& report)
{
  const auto figures = figures_in(line);
  const auto has = [&](const char* name) { return figures.contains(name); };
  const bool is_step = has("loss") || has("samples") || has("step_s");
  const bool is_evaluation = has("accuracy") || has("accuracy_percent") || has("eval_loss");
  report.is_printed = true;
  report.is_numbered = patterns_.contains("step");
  if (has("throughput")) report.throughput = value_of(figures, "throughput");
  keep_for_later(figures, is_step || is_evaluation);
  if (is_step) take_step(figures, report);
  if (is_evaluation) take_evaluation(figures, report);
}

void OutputReader::keep_for_later(const Figures& figures, bool is_whole)
{
  for (const auto& [name, value] : figures) {
    const bool holds = name == "learning_rate" || name == "epoch";
    if (holds) held_[name] = value;
    if (!holds && !is_whole && name != "throughput") next_[name] = value;
  }
}

void OutputReader::take_step(const Figures& found, RankReport& report)
{
  finish(report); // what is printed after a step belongs to another evaluation
  auto figures = found;
  figures.merge(std::exchange(next_, {}));
  StepLine step;
  const auto before = report.steps.empty() ? 0 : report.steps.back().step;
  const double number = value_of(figures, "step");
  step.step = std::isnan(number) ? before + 1 : std::max(before, static_cast<std::int64_t>(number));
  step.clock_s = not_measured;
  step.step_s = value_of(figures, "step_s");
  step.samples = value_of(figures, "samples");
  step.loss = value_of(figures, "loss");
  step.learning_rate = value_of(held_, "learning_rate");
  step.epoch = value_of(held_, "epoch");
  for (std::size_t i = 0; i < phase_count; ++i) step.phase_s[i] = value_of(figures, std::string(phase_names[i]) + "_s");
  report.steps.push_back(step);
}

void OutputReader::take_evaluation(const Figures& figures, RankReport& report)
{
  const double share = value_of(figures, "accuracy"), percent = value_of(figures, "accuracy_percent") / 100;
  const double accuracy = std::isnan(share) ? percent : share, loss = value_of(figures, "eval_loss");
  const bool has_loss = figures.contains("eval_loss");
  if (std::isnan(accuracy) && !has_loss) return; // it was impossible
  const bool is_another =
      open_ && ((!std::isnan(accuracy) && !std::isnan(open_->accuracy)) || (has_loss && !std::isnan(open_->loss)));
  if (is_another) finish(report);
  if (!open_) {
    open_.emplace();
    open_->step = report.steps.empty() ? 0 : report.steps.back().step;
    open_->clock_s = open_->eval_s = open_->samples = open_->accuracy = open_->loss = not_measured;
  }
  if (!std::isnan(accuracy)) open_->accuracy = accuracy;
  if (has_loss) open_->loss = loss;
  if (is_whole(*open_)) finish(report);
}

// Whether every figure of an evaluation that the recipe looks for was found.
bool OutputReader::is_whole(const EvaluationLine& evaluation) const
{
  const bool has_accuracy = patterns_.contains("accuracy") || patterns_.contains("accuracy_percent");
  return (!has_accuracy || !std::isnan(evaluation.accuracy)) &&
         (!patterns_.contains("eval_loss") || !std::isnan(evaluation.loss));
}

void OutputReader::finish(RankReport& report)
{
  if (open_) report.evaluations.push_back(*open_);
  open_.reset();
}

std::vector<std::string> OutputReader::missing() const
{
  std::vector<std::string> names;
  for (const auto& [name, pattern] : patterns_)
    if (!seen_.contains(name)) names.push_back(name);
  return names;
}

std::string OutputReader::refusal(const std::string& name) const
{
  const auto found = refusals_.find(name);
  return found == refusals_.end() ? std::string() : found->second;
}

std::vector<std::string> OutputReader::new_refusals() { return std::exchange(new_refusals_, {}); }

} // namespace dt::jobs
