#include "jobs/program/program_profile.hpp"

#include "core/host_list.hpp"
#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr std::int64_t bytes_of_parameter = 4;

// One entry for each measured step.
struct StepTimes {
  std::vector<double> input_s{}, forward_s{}, backward_s{}, compute_s{}, update_s{}, samples{};
};

double known_or_0(const StepLine& step, Phase phase)
{
  const double seconds = step.phase_s[static_cast<std::size_t>(phase)];
  return std::isnan(seconds) ? 0 : seconds;
}

void add_step(StepTimes& times, const StepLine& step)
{
  const double forward_s = step.phase_s[static_cast<std::size_t>(Phase::forward)];
  const double backward_s = step.phase_s[static_cast<std::size_t>(Phase::backward)];
  if (!(forward_s + backward_s > 0) || !(step.samples > 0) || std::isnan(step.step_s)) return;
  const double input_s = known_or_0(step, Phase::input), optimizer_s = known_or_0(step, Phase::optimizer);
  const double rest_s = step.step_s - input_s - forward_s - backward_s - optimizer_s - known_or_0(step, Phase::communication);
  times.input_s.push_back(input_s);
  times.forward_s.push_back(forward_s);
  times.backward_s.push_back(backward_s);
  times.compute_s.push_back(forward_s + backward_s);
  times.update_s.push_back(optimizer_s + std::max(0.0, rest_s));
  times.samples.push_back(step.samples);
}

StepTimes measured_times(const RankReport& report, std::int64_t warmup_steps)
{
  const auto first = (report.begin ? report.begin->step : 0) + warmup_steps;
  StepTimes times;
  for (const auto& step : report.steps)
    if (step.step > first) add_step(times, step);
  return times;
}

// As parse_compute_profile reads it: no two layers have one name.
std::string unused(const std::string& name, std::set<std::string>& used)
{
  auto tried = name;
  for (int i = 2; !used.insert(tried).second; ++i) tried = fmt::format("{} ({})", name, i);
  return tried;
}

// `gradients` in the order of their readiness, at the end of a backward pass of `backward_s` at the latest.
std::vector<LayerTime> layers_of(std::span<const GradientLine> gradients, double forward_s, double backward_s)
{
  std::set<std::string> used;
  std::vector<LayerTime> backwards; // from the last layer to the first
  double ready_s = 0;
  for (const auto& gradient : gradients) {
    const double now_s = std::clamp(backward_s - gradient.lead_s, ready_s, backward_s);
    const auto parameters = (gradient.bytes + bytes_of_parameter - 1) / bytes_of_parameter;
    if (!backwards.empty() && now_s == ready_s)
      *backwards.back().parameters += parameters;
    else
      backwards.push_back({unused(gradient.name, used), 0, now_s - ready_s, parameters});
    ready_s = now_s;
  }
  backwards.push_back({unused("forward pass, end of the backward pass", used), forward_s, backward_s - ready_s, 0});
  std::ranges::reverse(backwards);
  return backwards;
}

// The name of the program: the first word of its command that names a Python file, else the first word.
std::string program_of(const RunSpec& spec)
{
  for (const auto& word : spec.program.command)
    if (word.ends_with(".py")) return word;
  return spec.program.command.front();
}

} // namespace

std::optional<ComputeProfile> profile_of_program(const RunSpec& spec, std::span<const RankReport> reports,
                                                 const std::string& processor)
{
  const auto& root = reports.front();
  if (root.gradients.empty()) return std::nullopt;
  const auto times = measured_times(root, spec.train.warmup_steps);
  if (times.compute_s.empty()) return std::nullopt;
  std::vector<double> medians, factors;
  std::vector<std::string> hosts;
  for (const auto& report : reports) {
    const auto own = measured_times(report, spec.train.warmup_steps);
    hosts.push_back(report.start.host);
    if (own.compute_s.empty()) continue;
    medians.push_back(median(own.compute_s));
    for (const double seconds : own.compute_s) factors.push_back(seconds / medians.back());
  }
  return ComputeProfile{.model = program_of(spec),
                        .processor = processor.empty() ? "unknown" : processor,
                        .host = compact_hosts(hosts),
                        .batch = std::max<std::int64_t>(1, std::llround(median(times.samples))),
                        .threads = spec.resources.threads_per_rank,
                        .layers = layers_of(root.gradients, median(times.forward_s), median(times.backward_s)),
                        .input_s = median(times.input_s),
                        .update_s = median(times.update_s),
                        .steps = static_cast<std::int64_t>(times.compute_s.size()),
                        .step_quantiles = step_quantiles(std::move(factors)),
                        .node_spread = node_spread_of(medians),
                        .processes = static_cast<std::int64_t>(medians.size())};
}

} // namespace dt::jobs
