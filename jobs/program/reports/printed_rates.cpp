#include "jobs/program/reports/printed_rates.hpp"

#include "core/counted.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

// A printed rate and the steps for which it stands.
struct Weighted {
  double value = 0, weight = 0; // weight 0: no new step
  std::size_t lines = 0;        // of steps
  bool is_measured = false;
};

double weight_of(const RankReport& report, std::size_t from, std::size_t to)
{
  const auto& steps = report.steps;
  double samples = 0;
  for (auto i = from; i < to; ++i) samples += steps[i].samples;
  const auto before = from > 0 ? steps[from - 1].step : report.begin ? report.begin->step : 0;
  const auto more = steps[to - 1].step - before;
  const auto count = more > 0 && from > 0 ? more : static_cast<std::int64_t>(to - from);
  if (std::isnan(samples) || samples <= 0) return static_cast<double>(count);
  return report.is_time_per_step ? samples * static_cast<double>(count) / static_cast<double>(to - from) : samples;
}

std::vector<Weighted> weighted(const RankReport& report, const std::function<bool(std::size_t)>& is_behind_warm_up)
{
  std::vector<Weighted> rates;
  std::size_t before = 0;
  for (const auto& [lines, value] : report.rates) {
    Weighted rate{.value = value};
    if (report.steps.empty())
      rate.weight = 1, rate.is_measured = true;
    else if (lines > before) {
      rate.weight = weight_of(report, before, lines);
      rate.lines = lines - before;
      rate.is_measured = is_behind_warm_up(before);
    }
    before = lines;
    rates.push_back(rate);
  }
  return rates;
}

std::string rounded(double value) { return format_shortest(std::round(value * 1000) / 1000); }

// Lines of steps that have no rate although most lines have one.
std::size_t lines_without(const RankReport& report, const std::vector<Weighted>& rates)
{
  std::vector<std::size_t> spacing;
  for (const auto& rate : rates)
    if (rate.lines > 0) spacing.push_back(rate.lines);
  if (spacing.empty()) return 0;
  std::ranges::sort(spacing);
  const auto usual = spacing[spacing.size() / 2];
  std::size_t missing = 0;
  for (const auto lines : spacing)
    if (lines >= 2 * usual) missing += lines - usual;
  const auto at_end = report.steps.size() - report.rates.back().lines;
  return missing + (at_end >= usual ? at_end : 0);
}

RunRate mean_of(const RankReport& report, const std::vector<Weighted>& rates)
{
  RunRate run;
  const auto has_weight = [](const Weighted& rate) { return rate.weight > 0; };
  const auto is_measured = [](const Weighted& rate) { return rate.is_measured && rate.weight > 0; };
  const bool has_measured = std::ranges::any_of(rates, is_measured);
  double work = 0, time = 0, lowest = HUGE_VAL, highest = 0;
  std::int64_t count = 0;
  for (const auto& rate : rates) {
    if (!has_weight(rate) || (has_measured && !rate.is_measured)) continue;
    ++count;
    work += rate.weight;
    time += rate.weight / rate.value;
    lowest = std::min(lowest, rate.value);
    highest = std::max(highest, rate.value);
  }
  run.value = lowest == highest ? highest : work / time;
  run.words = count == 1 ? "one line" : fmt::format("mean of {}", counted(count, "line"));
  if (!has_measured)
    run.doubts.push_back("every printed throughput is of steps of the warm-up (train.warmup_steps), which are in the mean");
  if (highest >= 3 * lowest)
    run.doubts.push_back(fmt::format("the printed throughputs go from {} to {}: the run's is their mean over time, {}",
                                     rounded(lowest), rounded(highest), rounded(run.value)));
  std::string others;
  std::int64_t left_out = 0;
  for (const auto& rate : rates)
    if (!has_weight(rate) && ++left_out <= 3) others += (left_out > 1 ? ", " : "") + rounded(rate.value);
  if (left_out > 0)
    run.doubts.push_back(
        fmt::format("{} without a new step, as of an evaluation or of all the training, and {} left out of the "
                    "mean: {}. program.throughput: last takes the last one",
                    counted(left_out, "printed throughput stands in a line", "printed throughputs stand in lines"),
                    left_out == 1 ? "is" : "are", others));
  if (const auto missing = lines_without(report, rates); missing > 0)
    run.doubts.push_back(fmt::format("{} of {} no throughput", missing,
                                     counted(report.steps.size(), "line with a step has", "lines with a step have")));
  return run;
}

} // namespace

RunRate rate_of_run(const RankReport& report, PrintedThroughput take, const std::function<bool(std::size_t)>& is_behind_warm_up)
{
  if (report.rates.empty()) return {};
  if (take == PrintedThroughput::last) return {report.rates.back().value, "the last line", {}};
  if (report.gap) { // a mean needs every line
    const bool is_only = report.gap->rates == 0 && report.rates.size() == 1;
    return is_only ? RunRate{report.rates.back().value, "one line", {}} : RunRate{};
  }
  auto rates = weighted(report, is_behind_warm_up);
  const bool has_steps = std::ranges::any_of(rates, [](const Weighted& rate) { return rate.weight > 0; });
  if (!has_steps) // all before the first step
    for (auto& rate : rates) rate.weight = 1;
  if (rates.size() == 1) return {rates.front().value, "one line", {}};
  if (take == PrintedThroughput::mean) return mean_of(report, rates);
  RunRate run{not_measured, "the largest line", {}};
  for (const auto& rate : rates)
    if (rate.is_measured && rate.weight > 0) run.value = std::fmax(run.value, rate.value);
  return run;
}

} // namespace dt::jobs
