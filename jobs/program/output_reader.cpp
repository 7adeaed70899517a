#include "jobs/program/output_reader.hpp"

#include "core/program/printed_text.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr double most_steps = 1e15;

Reported value_of(const std::map<std::string, Reported>& figures, const std::string& name)
{
  const auto found = figures.find(name);
  return found == figures.end() ? std::nullopt : found->second;
}

double quantity_of(const std::map<std::string, Reported>& figures, const std::string& name)
{
  return or_not_measured(value_of(figures, name));
}

// What the figure must be; empty if the value is possible.
std::string demand_of(const std::string& name, double value)
{
  if (name == "loss" || name == "eval_loss" || name == "learning_rate") return {};
  const bool is_quantity = value >= 0 && std::isfinite(value);
  if (std::isnan(value) && (name == "accuracy" || name == "accuracy_percent")) return {};
  if (name == "accuracy" && !(is_quantity && value <= 1))
    return "an accuracy lies between 0 and 1; use accuracy_percent if the program prints percent";
  if (name == "accuracy_percent" && !(is_quantity && value <= 100)) return "a percentage lies between 0 and 100";
  if (name == "step" && value > most_steps) return "no program makes so many steps";
  return is_quantity ? "" : "it must be a finite number of at least 0";
}

// Whether every step has this figure. Others come now and then: learning rate, epoch, throughput, evaluations, the result.
bool is_of_step(const std::string& name) { return name == "step" || name == "loss" || name == "samples" || name.ends_with("_s"); }

bool is_percent(const Found& found) { return found.behind.starts_with('%'); }

// The unit behind a figure in seconds if it is another one: "ms", or ":30" behind minutes; else empty.
std::string_view other_unit(const std::string& name, const Found& found)
{
  constexpr std::array<std::string_view, 17> others{
      "ms",           "us",  "µs",   "μs",     "ns",      "msec", "usec", "millisecond", "milliseconds",
      "microseconds", "min", "mins", "minute", "minutes", "m",    "h",    "hours"};
  if (!name.ends_with("_s")) return {};
  const std::string_view behind = found.behind;
  const bool is_clock = behind.size() > 2 && behind[0] == ':' && std::isdigit(behind[1]) != 0 && std::isdigit(behind[2]) != 0;
  if (is_clock) return behind.substr(0, 3);
  const auto ends_word = [](char c) {
    return static_cast<unsigned char>(c) < 0x80 && std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_';
  };
  const auto word =
      behind.substr(0, static_cast<std::size_t>(std::find_if(behind.begin(), behind.end(), ends_word) - behind.begin()));
  return std::find(others.begin(), others.end(), word) == others.end() ? std::string_view() : word;
}

// The line, or 100 bytes of it around the number.
std::string excerpt(const std::string& line, const std::string& number)
{
  constexpr std::size_t before = 50, most = 100;
  if (line.size() <= most) return printable(line);
  const auto place = line.find(number);
  auto begin = place == std::string::npos || place < before ? 0 : place - before;
  auto end = std::min(begin + most, line.size());
  const auto is_inside = [&](std::size_t at) {
    return at < line.size() && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80;
  };
  while (is_inside(begin)) ++begin;
  while (is_inside(end)) --end;
  return (begin > 0 ? "… " : "") + printable(line.substr(begin, end - begin)) + (end < line.size() ? " …" : "");
}

// Why the figure is left out, behind "program.metrics.NAME found"; empty if it is not.
std::string objection(const std::string& name, const Found& found, const std::string& line)
{
  const auto where = fmt::format("{} in `{}`", found.text, excerpt(line, found.whole));
  if (found.kind == Found::Kind::cut) {
    const bool may_be_two = found.whole.find(',') != std::string::npos && !parse_printed_number(found.whole);
    return fmt::format(
        "{}, but the number there is {}: let the group take all of it, as (\\S+) does{}", where, found.whole,
        may_be_two ? "; if a comma divides two numbers there, write it in the expression, directly beside the group" : "");
  }
  if (found.kind == Found::Kind::unreadable)
    return where + ", which cannot be read: a number has a decimal point, an exponent and groups of three digits at most";
  if (is_percent(found) && !name.starts_with("accuracy")) return where + " in percent, but only an accuracy may be in percent";
  if (const auto unit = other_unit(name, found); !unit.empty())
    return fmt::format("{}, where `{}` follows, but the figure is in seconds", where, unit);
  const bool is_share = name == "accuracy" && is_percent(found);
  const auto demand = demand_of(is_share ? "accuracy_percent" : name, found.value);
  return demand.empty() ? "" : fmt::format("{}, but {}", found.value, demand);
}

} // namespace

OutputReader::OutputReader(const std::map<std::string, std::string>& metrics)
{
  for (const auto& [name, text] : metrics) metrics_.emplace(name, Metric{Pattern(text), text, {}});
}

// The value of a figure that was found; nothing if it is left out.
Reported OutputReader::judged(const std::string& name, Metric& metric, const Found& found, const std::string& line)
{
  auto& finding = metric.finding;
  if (const auto why = objection(name, found, line); !why.empty()) {
    if (finding.refused++ > 0) return std::nullopt;
    finding.first_refused_line = line_;
    finding.refusal = fmt::format("program.metrics.{} found {}", name, why);
    new_refusals_.push_back(finding.refusal);
    return std::nullopt;
  }
  const double value = name == "accuracy" && is_percent(found) ? found.value / 100 : found.value;
  if (finding.found++ == 0) finding.first = value, finding.first_line = line_;
  finding.last = value;
  finding.last_line = line_;
  return value;
}

OutputReader::Figures OutputReader::figures_in(const std::string& line)
{
  Figures figures;
  for (auto& [name, metric] : metrics_) {
    auto& finding = metric.finding;
    if (name == "result") {
      if (!metric.pattern.is_in(line)) continue;
      if (finding.found++ == 0) finding.first_line = line_;
      finding.last_line = line_;
      continue;
    }
    const auto found = metric.pattern.find(line);
    if (!found) continue;
    if (found->kind != Found::Kind::text)
      figures[name] = judged(name, metric, *found, line);
    else if (finding.no_number.empty())
      finding.no_number = fmt::format("program.metrics.{} found `{}`, which is no number, in `{}`", name, printable(found->text),
                                      excerpt(line, found->text));
  }
  return figures;
}

void OutputReader::take(const std::string& line, RankReport& report, LinePlace place)
{
  ++lines_;
  line_ = place.number > 0 ? place.number : lines_;
  clock_s_ = place.clock_s;
  last_line_ = plain_text(line);
  const auto figures = figures_in(last_line_);
  const auto has = [&](const char* name) { return figures.contains(name); };
  const bool is_step = has("loss") || has("samples") || has("step_s");
  const bool is_evaluation = has("accuracy") || has("accuracy_percent") || has("eval_loss");
  report.is_printed = true;
  report.is_numbered = reads("step");
  if (has("throughput")) report.throughput = quantity_of(figures, "throughput");
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
  const auto number = value_of(figures, "step");
  step.step = number ? std::max(before, static_cast<std::int64_t>(*number)) : before + 1;
  step.clock_s = clock_s_;
  step.step_s = quantity_of(figures, "step_s");
  step.samples = quantity_of(figures, "samples");
  step.loss = value_of(figures, "loss");
  step.learning_rate = value_of(held_, "learning_rate");
  step.epoch = quantity_of(held_, "epoch");
  for (std::size_t i = 0; i < phase_count; ++i) step.phase_s[i] = quantity_of(figures, std::string(phase_names[i]) + "_s");
  report.steps.push_back(step);
}

void OutputReader::take_evaluation(const Figures& figures, RankReport& report)
{
  auto accuracy = value_of(figures, "accuracy");
  if (const auto percent = value_of(figures, "accuracy_percent"); percent && !accuracy) accuracy = *percent / 100;
  const auto loss = value_of(figures, "eval_loss");
  if (!accuracy && !loss) return; // it was left out
  const bool is_another = open_ && ((accuracy && open_->accuracy) || (loss && open_->loss));
  if (is_another) finish(report);
  if (!open_) {
    open_.emplace();
    open_->step = report.steps.empty() ? 0 : report.steps.back().step;
    open_->eval_s = open_->samples = not_measured;
  }
  open_->clock_s = clock_s_;
  if (accuracy) open_->accuracy = accuracy;
  if (loss) open_->loss = loss;
  if (is_whole(*open_)) finish(report);
}

// Whether every figure of an evaluation that the recipe looks for was found.
bool OutputReader::is_whole(const EvaluationLine& evaluation) const
{
  const bool has_accuracy = reads("accuracy") || reads("accuracy_percent");
  return (!has_accuracy || evaluation.accuracy) && (!reads("eval_loss") || evaluation.loss);
}

void OutputReader::leave_out(RankReport& report)
{
  finish(report);
  next_.clear();
  held_.clear();
  report.throughput = not_measured;
}

void OutputReader::finish(RankReport& report)
{
  if (open_) report.evaluations.push_back(*open_);
  open_.reset();
}

std::vector<std::string> OutputReader::missing() const
{
  std::vector<std::string> names;
  for (const auto& [name, metric] : metrics_)
    if (metric.finding.found == 0) names.push_back(name);
  return names;
}

std::vector<std::string> OutputReader::new_silent(bool is_late, const RankReport& report)
{
  std::vector<std::string> names;
  for (auto& [name, metric] : metrics_) {
    const bool is_due = is_late || (report.steps.size() >= 2 && is_of_step(name));
    const bool has_spoken = metric.finding.found > 0 || metric.finding.refused > 0;
    if (!is_due || has_spoken || metric.is_known) continue;
    metric.is_known = metric.was_silent = true;
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> OutputReader::new_found()
{
  std::vector<std::string> names;
  for (auto& [name, metric] : metrics_)
    if (metric.finding.found > 0 && std::exchange(metric.was_silent, false)) names.push_back(name);
  return names;
}

std::string OutputReader::silence(const std::string& name) const
{
  const auto& metric = metrics_.at(name);
  const auto lines = lines_ == 1 ? std::string("the first line") : fmt::format("the first {} lines", lines_);
  if (lines_ == 0) return fmt::format("program.metrics.{} has found nothing, because rank 0 has printed no line yet", name);
  return fmt::format("program.metrics.{} ({}) has found nothing in {} of rank 0, of which the last is `{}`{}", name, metric.text,
                     lines, excerpt(last_line_, {}), is_of_step(name) ? "" : "; it may still come");
}

std::vector<std::string> OutputReader::new_refusals() { return std::exchange(new_refusals_, {}); }

} // namespace dt::jobs
