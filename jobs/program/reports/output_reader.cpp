#include "jobs/program/reports/output_reader.hpp"

#include "core/counted.hpp"
#include "core/number.hpp"
#include "core/program/printed_text.hpp"
#include "core/program/printed_unit.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

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
  if (name == "throughput" && value == 0) return "no program trains at that rate";
  if (name == "step" && value > most_steps) return "no program makes so many steps";
  return is_quantity ? "" : "it must be a finite number of at least 0";
}

// Whether every step has this figure. Others come now and then: learning rate, epoch, throughput, evaluations, the result.
bool is_of_step(const std::string& name) { return name == "step" || name == "loss" || name == "samples" || name.ends_with("_s"); }

bool is_percent(const Found& found) { return trim(std::string_view(found.behind)).starts_with('%'); }
bool is_time(const std::string& name) { return name.ends_with("_s"); }
bool is_share_or_loss(const std::string& name) { return !is_time(name) && name != "throughput" && name != "samples"; }

// A printed figure in the unit of its record, or why it has none: behind "found NUMBER in `LINE`".
struct Converted {
  double value = 0;
  std::string objection;
  bool is_per_step = false;
};

Converted refused(std::string why) { return {0, std::move(why), false}; }

Converted as_time(double value, const PrintedUnit& unit)
{
  if (unit.kind == PrintedUnit::Kind::time) // 50 ms are 50 / 1000 s: the nearest double to 0.05
    return {unit.factor < 1 ? value / std::round(1 / unit.factor) : value * unit.factor, {}, unit.is_per_step};
  if (!unit.is_per_step) return refused(fmt::format(", where `{}` stands, but the figure is a time", unit.text));
  return {1 / (value * unit.factor), {}, true};
}

Converted as_rate(double value, const PrintedUnit& unit)
{
  if (unit.is_per_device)
    return refused(fmt::format(", where `{}` stands, but the figure is the throughput of all ranks", unit.text));
  if (unit.kind == PrintedUnit::Kind::rate) return {value * unit.factor, {}, unit.is_per_step};
  if (!unit.is_per_step) return refused(fmt::format(", where `{}` stands, but the figure is a rate", unit.text));
  return {1 / (value * unit.factor), {}, true};
}

// "1:30" behind its minutes.
bool is_clock(std::string_view behind)
{
  return behind.size() > 2 && behind[0] == ':' && std::isdigit(behind[1]) != 0 && std::isdigit(behind[2]) != 0;
}

// Units count for times, throughputs and samples. A loss or a learning rate may be followed by anything.
Converted in_its_unit(const std::string& name, const Found& found)
{
  using Kind = PrintedUnit::Kind;
  const auto behind = unit_behind(found.behind);
  if (is_share_or_loss(name)) {
    const bool is_thousands = behind && behind->kind == Kind::prefix && behind->text.size() == 1;
    return is_thousands ? refused(", which cannot be read: " + found.text + behind->text) : Converted{found.value, {}, false};
  }
  if (is_time(name) && is_clock(found.behind))
    return refused(fmt::format(", where `{}` follows, but the figure is in seconds", found.behind.substr(0, 3)));
  double value = found.value;
  const bool is_multiplied = behind && behind->kind == Kind::prefix;
  if (is_multiplied) value *= behind->factor;
  const auto front = unit_in_front(found.before);
  if (name == "samples") {
    const bool is_rate = behind && behind->kind == Kind::rate && !behind->is_per_step;
    return is_rate ? refused(fmt::format(", where `{}` follows, but the figure is a number of samples", behind->text))
                   : Converted{value, {}, false};
  }
  const auto& unit = behind && !is_multiplied ? behind : front;
  if (!unit) return {value, {}, false};
  const bool differ =
      behind && front && !is_multiplied && !front->is_doubtful && behind->kind == front->kind && behind->factor != front->factor;
  if (differ) return refused(fmt::format(", where `{}` stands in front and `{}` behind", front->text, behind->text));
  if (unit->is_doubtful && is_time(name) && unit->factor != 1)
    return refused(fmt::format(", where it is not clear whether `{}` in front is its unit", unit->text));
  if (unit->is_doubtful) return {value, {}, false};
  return is_time(name) ? as_time(value, *unit) : as_rate(value, *unit);
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

// The number behind that of a step: 390 in "/390]" behind "[12".
std::optional<std::int64_t> number_of_all(std::string_view behind)
{
  auto rest = trim(behind);
  if (!rest.starts_with('/')) return std::nullopt;
  rest = trim(rest.substr(1));
  return number_of<std::int64_t>(rest.substr(0, rest.find_first_not_of("0123456789")));
}

// Whether the samples of these lines are counts since the start or since an epoch's start: they grow in each line, by amounts
// that do not grow as those of a batch that is made larger and larger, and fall only to less than half.
bool is_count_of_all(const std::vector<StepLine>& steps, const std::string& expression)
{
  static const RE2 word("(?i)consumed|total|cumul|processed|seen|so.far", RE2::Quiet);
  std::vector<double> growth; // a step
  const StepLine* before = nullptr;
  for (const auto& step : steps) {
    if (std::isnan(step.samples)) continue;
    const auto more = before != nullptr ? step.samples - before->samples : not_measured;
    if (more <= 0 && step.samples > before->samples / 2) return false;
    if (more > 0) growth.push_back(more / static_cast<double>(std::max<std::int64_t>(step.step - before->step, 1)));
    before = &step;
  }
  if (RE2::PartialMatch(expression, word)) return !growth.empty();
  if (growth.size() < 2) return false;
  std::sort(growth.begin(), growth.end());
  return growth.back() <= 1.5 * growth[growth.size() / 2];
}

// "256, 512, 768, …"
std::string words_of_samples(const std::vector<StepLine>& steps)
{
  std::vector<std::string> words;
  for (const auto& step : steps) {
    if (!std::isnan(step.samples)) words.push_back(format_shortest(step.samples));
    if (words.size() == 3) break;
  }
  return join(words, ", ");
}

// Why the figure is left out, behind "program.metrics.NAME found"; empty if it is not.
std::string objection(const std::string& name, const Found& found, const Converted& converted, const std::string& line)
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
  if (!converted.objection.empty()) return where + converted.objection;
  const bool is_share = name == "accuracy" && is_percent(found);
  const auto demand = demand_of(is_share ? "accuracy_percent" : name, converted.value);
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
  const auto converted = in_its_unit(name, found);
  if (const auto why = objection(name, found, converted, line); !why.empty()) {
    if (finding.refused++ > 0) return std::nullopt;
    finding.first_refused_line = line_;
    finding.refusal = fmt::format("program.metrics.{} found {}", name, why);
    new_refusals_.push_back(finding.refusal);
    return std::nullopt;
  }
  const bool is_share = name == "accuracy" && is_percent(found);
  const double value = is_share ? found.value / 100 : converted.value;
  metric.is_per_step = metric.is_per_step || converted.is_per_step || (is_time(name) && says_per_step(found.before));
  if (finding.found++ == 0) finding.first = value, finding.first_line = line_;
  finding.last = value;
  finding.last_line = line_;
  return value;
}

// What the expression finds in the line, or in the line with its rates turned over.
std::optional<Found> OutputReader::find(const std::string& name, const Pattern& pattern, const std::string& line)
{
  auto found = pattern.find(line);
  if (found || (name != "throughput" && !is_time(name))) return found;
  const auto turned = with_rates_turned(line);
  if (turned) found = pattern.find(*turned);
  if (!found) return found;
  const auto behind = with_rates_turned(found->behind);
  if (!behind || !unit_behind(*behind)) return std::nullopt;
  found->behind = *behind;
  return found;
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
    const auto found = find(name, metric.pattern, line);
    if (!found) continue;
    if (name == "step") of_ = number_of_all(found->behind);
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
  of_.reset();
  const auto figures = figures_in(last_line_);
  const auto has = [&](const char* name) { return figures.contains(name); };
  const bool is_step = has("loss") || has("samples") || has("step_s");
  const bool is_evaluation = has("accuracy") || has("accuracy_percent") || has("eval_loss");
  report.is_printed = true;
  keep_for_later(figures, is_step || is_evaluation);
  if (is_step && !is_told_again(figures) && !is_no_step(figures)) take_step(figures, report);
  if (const auto rate = value_of(figures, "throughput")) report.rates.push_back({report.steps.size(), *rate});
  if (is_evaluation) take_evaluation(figures, report);
}

// Progress bars are drawn again with the same figures.
bool OutputReader::is_told_again(const Figures& figures) const
{
  const bool is_same_epoch = std::isnan(epoch()) ? std::isnan(epoch_of_last_) : epoch() == epoch_of_last_;
  return value_of(figures, "step") && figures == last_step_ && is_same_epoch;
}

// Where the lines of steps have numbers, another line with a loss is that of a test.
bool OutputReader::is_no_step(const Figures& figures)
{
  if (!reads("step") || numbered_lines_ < 2 || figures.contains("step") || next_.contains("step")) return false;
  const bool tells_more = std::ranges::any_of(
      figures, [&](const auto& figure) { return is_of_step(figure.first) && !last_step_.contains(figure.first); });
  ++(tells_more ? unnumbered_steps_ : lines_without_number_);
  return !tells_more;
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
  end_evaluation(report); // what is printed after a step belongs to another evaluation
  auto figures = found;
  figures.merge(std::exchange(next_, {}));
  StepLine step;
  PrintedStep printed{.number = {}, .of = of_, .epoch = epoch()};
  if (const auto number = value_of(figures, "step")) printed.number = static_cast<std::int64_t>(*number);
  step.step = numbers_.take(printed);
  report.is_numbered = reads("step") && !numbers_.restarts();
  if (printed.number) last_step_ = found, epoch_of_last_ = epoch();
  if (found.contains("step")) ++numbered_lines_;
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
  if (is_another) end_evaluation(report);
  if (!open_) {
    open_.emplace();
    open_->step = report.steps.empty() ? 0 : report.steps.back().step;
    open_->eval_s = open_->samples = not_measured;
  }
  open_->clock_s = clock_s_;
  if (accuracy) open_->accuracy = accuracy;
  if (loss) open_->loss = loss;
  if (is_whole(*open_)) end_evaluation(report);
}

// Whether every figure of an evaluation that the recipe looks for was found.
bool OutputReader::is_whole(const EvaluationLine& evaluation) const
{
  const bool has_accuracy = reads("accuracy") || reads("accuracy_percent");
  return (!has_accuracy || evaluation.accuracy) && (!reads("eval_loss") || evaluation.loss);
}

void OutputReader::leave_out(RankReport& report)
{
  end_evaluation(report);
  next_.clear();
  held_.clear();
}

void OutputReader::end_evaluation(RankReport& report)
{
  if (open_) report.evaluations.push_back(*open_);
  open_.reset();
}

void OutputReader::finish(RankReport& report)
{
  end_evaluation(report);
  report.is_count_known = numbers_.is_exact();
  if (reads("step_s")) report.is_time_per_step = metrics_.at("step_s").is_per_step;
  const auto doubt = [&](std::string sentence) { report.caveats.push_back({"metrics", std::move(sentence)}); };
  for (auto& sentence : numbers_.doubts()) doubt(std::move(sentence));
  if (auto sentence = settle_samples(report); !sentence.empty()) doubt(std::move(sentence));
  if (lines_without_number_ > 0)
    doubt(fmt::format("{} no number of a step, so {} not taken for steps",
                      counted(lines_without_number_, "line with a loss has", "lines with a loss have"),
                      lines_without_number_ == 1 ? "it was" : "they were"));
  if (unnumbered_steps_ > 0)
    doubt(fmt::format("{} no number, and {} as a step of its own: all figures of a step must stand in one line",
                      counted(unnumbered_steps_, "line with figures of a step has", "lines with figures of a step have"),
                      unnumbered_steps_ == 1 ? "it counts" : "each counts"));
  if (reads("throughput") && metrics_.at("throughput").is_per_step)
    doubt("program.metrics.throughput is printed in steps a second, not in samples: runs with batches of other sizes cannot be "
          "compared by it");
}

// A program may print how many samples it has had in all, in place of those since the line before: the number then grows from
// line to line, and falls only where it begins again in an epoch. Replaces such numbers by their differences. Returns a sentence
// about that; empty if the samples are those of the lines.
std::string OutputReader::settle_samples(RankReport& report) const
{
  if (!reads("samples") || !is_count_of_all(report.steps, metrics_.at("samples").text)) return {};
  const bool is_per_step = reads("step") && report.is_time_per_step;
  const auto printed = report.steps;
  std::optional<std::size_t> before;
  for (std::size_t i = 0; i < printed.size(); ++i) {
    auto& samples = report.steps[i].samples;
    if (std::isnan(samples)) continue;
    const bool is_known = before && printed[i].samples > printed[*before].samples;
    const auto steps = is_known && is_per_step ? std::max<std::int64_t>(printed[i].step - printed[*before].step, 1) : 1;
    samples = is_known ? (printed[i].samples - printed[*before].samples) / static_cast<double>(steps) : not_measured;
    before = i;
  }
  report.skips_unknown_samples = true;
  return fmt::format(
      "program.metrics.samples grows from line to line ({}), so it is taken for all samples since the start or since "
      "an epoch's start: {} have its difference to the line before{}",
      words_of_samples(printed), is_per_step ? "steps" : "lines", is_per_step ? ", divided by the steps between them" : "");
}

std::vector<std::string> OutputReader::missing() const
{
  std::vector<std::string> names;
  for (const auto& [name, metric] : metrics_)
    if (metric.finding.found == 0) names.push_back(name);
  return names;
}

std::vector<std::string> OutputReader::left_out() const
{
  std::vector<std::string> sentences;
  for (const auto& [name, metric] : metrics_)
    if (const auto& finding = metric.finding; finding.refused > 0)
      sentences.push_back(fmt::format("{} of {} left out: {}", finding.refused,
                                      counted(finding.refused + finding.found, "figure was", "figures were"), finding.refusal));
  return sentences;
}

bool OutputReader::has_left_out_accuracy() const
{
  return std::ranges::any_of(
      metrics_, [](const auto& metric) { return metric.first.starts_with("accuracy") && metric.second.finding.refused > 0; });
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

std::vector<std::string> OutputReader::new_notes() { return numbers_.new_notes(); }

} // namespace dt::jobs
