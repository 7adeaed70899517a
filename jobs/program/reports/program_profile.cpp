#include "jobs/program/reports/program_profile.hpp"

#include "core/machine/host_list.hpp"
#include "core/maths/statistics.hpp"
#include "jobs/program/reports/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr std::int64_t bytes_of_parameter = 4;

// Of one rank's measured steps.
struct StepTimes {
  std::vector<double> work_s{}; // of each step, without its communication
  // Sums over the steps with samples and the times of both passes.
  double input_s = 0, forward_s = 0, backward_s = 0, update_s = 0, samples = 0, steps = 0;

  double phases_s() const { return input_s + forward_s + backward_s + update_s; }
};

double known_or_0(const StepLine& step, Phase phase)
{
  const double seconds = step.phase_s[static_cast<std::size_t>(phase)];
  return std::isnan(seconds) ? 0 : seconds;
}

void add_step(StepTimes& times, const StepLine& step)
{
  const double work_s = step.step_s - known_or_0(step, Phase::communication);
  if (work_s > 0) times.work_s.push_back(work_s);
  const double forward_s = step.phase_s[static_cast<std::size_t>(Phase::forward)];
  const double backward_s = step.phase_s[static_cast<std::size_t>(Phase::backward)];
  if (!(forward_s + backward_s > 0) || !(step.samples > 0)) return;
  const double input_s = known_or_0(step, Phase::input), optimizer_s = known_or_0(step, Phase::optimizer);
  times.input_s += input_s;
  times.forward_s += forward_s;
  times.backward_s += backward_s;
  times.update_s += optimizer_s + std::max(0.0, work_s - input_s - forward_s - backward_s - optimizer_s);
  times.samples += step.samples;
  ++times.steps;
}

StepTimes measured_times(const RunSpec& spec, int attempt, const RankReport& report)
{
  StepTimes times;
  for (std::size_t line = 0; line < report.steps.size(); ++line)
    if (is_measured(spec, attempt, report, line)) add_step(times, report.steps[line]);
  return times;
}

double mean_of(const std::vector<double>& values)
{
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// As parse_compute_profile reads it: no two layers have one name.
std::string unused(const std::string& name, std::set<std::string>& used)
{
  auto tried = name;
  for (int i = 2; !used.insert(tried).second; ++i) tried = fmt::format("{} ({})", name, i);
  return tried;
}

// `gradients` in the order of their readiness, at the end of a backward pass of `backward_s` at the latest; their leads are those
// of a backward pass of `measured_backward_s`.
std::vector<LayerTime> layers_of(std::span<const GradientLine> gradients, double forward_s, double backward_s,
                                 double measured_backward_s)
{
  std::set<std::string> used;
  std::vector<LayerTime> backwards; // from the last layer to the first
  double ready_s = 0;
  for (const auto& gradient : gradients) {
    const double now_s = std::clamp(backward_s * (1 - gradient.lead_s / measured_backward_s), ready_s, backward_s);
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
                                                 const std::string& processor, int attempt)
{
  const auto& root = reports.front();
  if (root.gradients.empty()) return std::nullopt;
  const auto times = measured_times(spec, attempt, root);
  if (times.steps == 0 || times.work_s.empty()) return std::nullopt;
  std::vector<double> medians, factors;
  std::vector<std::string> hosts;
  for (const auto& report : reports) {
    const auto own = measured_times(spec, attempt, report);
    hosts.push_back(report.start.host);
    if (own.work_s.empty()) continue;
    medians.push_back(median(own.work_s));
    for (const double seconds : own.work_s) factors.push_back(seconds / medians.back());
  }
  const auto steps = static_cast<std::int64_t>(times.work_s.size());
  const auto quantiles = step_quantiles(std::move(factors));
  const double samples = times.samples / times.steps;
  const auto batch = std::max<std::int64_t>(1, std::llround(samples));
  // From the sums of phases to the mean step of `batch` samples. Only computation varies, by factors whose mean is not 1.
  const double scale = mean_of(times.work_s) / times.phases_s() * static_cast<double>(batch) / samples;
  const double compute_scale = scale / mean_factor(quantiles);
  return ComputeProfile{.model = program_of(spec),
                        .processor = processor.empty() ? "unknown" : processor,
                        .host = compact_hosts(hosts),
                        .batch = batch,
                        .threads = spec.resources.threads_per_rank,
                        .layers = layers_of(root.gradients, compute_scale * times.forward_s, compute_scale * times.backward_s,
                                            times.backward_s / times.steps),
                        .input_s = scale * times.input_s,
                        .update_s = scale * times.update_s,
                        .steps = steps,
                        .step_quantiles = quantiles,
                        .node_spread = node_spread_of(medians),
                        .processes = static_cast<std::int64_t>(medians.size())};
}

} // namespace dt::jobs
