#include "jobs/program/output_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace dt::jobs {
namespace {

constexpr double most_steps = 1e15;

double value_of(const std::map<std::string, double>& figures, const std::string& name)
{
  const auto found = figures.find(name);
  return found == figures.end() ? not_measured : found->second;
}

// A time or a number of samples below 0 is none.
double quantity_of(const std::map<std::string, double>& figures, const std::string& name)
{
  const double value = value_of(figures, name);
  return value >= 0 && std::isfinite(value) ? value : not_measured;
}

} // namespace

OutputReader::OutputReader(const std::map<std::string, std::string>& metrics)
{
  for (const auto& [name, text] : metrics) patterns_.emplace(name, Pattern(text));
}

void OutputReader::take(const std::string& line, RankReport& report)
{
  Figures figures;
  for (const auto& [name, pattern] : patterns_) {
    if (name == "result" && pattern.is_in(line)) seen_.insert(name);
    if (name == "result") continue;
    if (const auto number = pattern.number_in(line)) figures[name] = *number;
  }
  for (const auto& [name, value] : figures) seen_.insert(name);
  const auto has = [&](const char* name) { return figures.contains(name); };
  if (has("throughput")) report.throughput = quantity_of(figures, "throughput");
  if (has("loss") || has("samples") || has("step_s")) take_step(figures, report);
  if (has("accuracy") || has("accuracy_percent")) take_evaluation(figures, report);
}

void OutputReader::take_step(const Figures& figures, RankReport& report)
{
  StepLine step;
  const auto before = report.steps.empty() ? 0 : report.steps.back().step;
  const double number = quantity_of(figures, "step");
  step.step = number <= most_steps ? std::max(before, static_cast<std::int64_t>(number)) : before + 1;
  step.clock_s = not_measured;
  step.step_s = quantity_of(figures, "step_s");
  step.samples = quantity_of(figures, "samples");
  step.loss = value_of(figures, "loss");
  step.learning_rate = value_of(figures, "learning_rate");
  step.epoch = quantity_of(figures, "epoch");
  for (std::size_t i = 0; i < phase_count; ++i) step.phase_s[i] = quantity_of(figures, std::string(phase_names[i]) + "_s");
  report.steps.push_back(step);
}

void OutputReader::take_evaluation(const Figures& figures, RankReport& report)
{
  EvaluationLine evaluation;
  evaluation.step = report.steps.empty() ? 0 : report.steps.back().step;
  evaluation.clock_s = evaluation.eval_s = evaluation.samples = not_measured;
  const double share = quantity_of(figures, "accuracy"), percent = quantity_of(figures, "accuracy_percent") / 100;
  evaluation.accuracy = std::isnan(share) ? percent : share;
  evaluation.loss = value_of(figures, "eval_loss");
  if (evaluation.accuracy <= 1) report.evaluations.push_back(evaluation);
}

std::vector<std::string> OutputReader::missing() const
{
  std::vector<std::string> names;
  for (const auto& [name, pattern] : patterns_)
    if (!seen_.contains(name)) names.push_back(name);
  return names;
}

} // namespace dt::jobs
