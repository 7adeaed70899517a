#include "jobs/program/energy_watch.hpp"

#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/machine/quick_file.hpp"
#include "jobs/program/beside_rank.hpp"
#include "jobs/program/reports/report_lines.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;

constexpr double period_s = 1;
constexpr int looks_for_counters = 10;
// NVML's energy counter moves ten times a second and its power is a mean over one: differences over less are worth nothing.
constexpr double least_s = 1;
// NVML's manual asks for more than a tenth of a second between two samples of activity.
constexpr double least_between_samples_s = 0.15;
constexpr std::array shares{&GpuActivity::sm_busy, &GpuActivity::occupancy, &GpuActivity::tensor_busy,
                            &GpuActivity::memory_bandwidth};

// Containers on one machine share its kernel, and so its boot id.
std::string machine_here()
{
  const auto boot = text_if_readable("/proc/sys/kernel/random/boot_id");
  return boot.empty() ? host_name() : std::string(trim(boot));
}

fs::path energy_file(const AttemptFolder& attempt, int rank)
{
  return attempt.path_of(AttemptFile::reports) / fmt::format("energy-{}", rank);
}

std::vector<NodeEnergy> nodes_in_reports(const AttemptFolder& attempt)
{
  std::vector<NodeEnergy> nodes;
  const auto folder = attempt.path_of(AttemptFile::reports);
  std::error_code none;
  if (!fs::is_directory(folder, none)) return nodes;
  for (const auto& name : names_in(folder))
    if (name.starts_with("energy-"))
      if (auto node = parse_node_energy(text_if_readable(folder / name))) nodes.push_back(std::move(*node));
  return nodes;
}

// dtengine computes on processors. Of an own program, the ranks' CUDA_VISIBLE_DEVICES; a host of which a rank has none is left
// out.
GpusOfHosts gpus_of_ranks(const AttemptFolder& attempt, const RunSpec& spec, const std::vector<NodeEnergy>& nodes)
{
  GpusOfHosts gpus;
  if (!spec.is_own_program()) {
    for (const auto& node : nodes) gpus[node.host];
    return gpus;
  }
  std::set<std::string> unknown;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(spec.ranks()); ++rank) {
    const auto start = started_rank(attempt, rank);
    if (!start) continue;
    const auto& [number, pid, host, cores, visible] = start->line;
    if (visible == "-") unknown.insert(host);
    for (auto& gpu : split(visible, ',')) gpus[host].push_back(std::move(gpu));
  }
  for (const auto& host : unknown) gpus.erase(host);
  return gpus;
}

} // namespace

void EnergyWatch::GpuSums::add(const GpuLook& look, double time_s)
{
  seconds += time_s;
  if (!std::isnan(look.busy)) busy_s += look.busy * time_s, busy_known_s += time_s;
  if (!std::isnan(look.clock_mhz)) clock_mhz_s += look.clock_mhz * time_s, clock_known_s += time_s;
  least_clock_mhz = std::fmin(least_clock_mhz, look.clock_mhz); // fmin and fmax ignore NaN
  memory_peak_bytes = std::fmax(memory_peak_bytes, look.memory_bytes);
  for (const auto& reason : look.held_back) held_back_s[reason] += time_s;
}

void EnergyWatch::GpuSums::add(const GpuActivity& activity, double time_s)
{
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (const double share = activity.*shares[i]; !std::isnan(share)) active_s[i] += share * time_s, active_known_s[i] += time_s;
}

GpuActivity EnergyWatch::GpuSums::activity() const
{
  GpuActivity activity;
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (active_known_s[i] > 0) activity.*shares[i] = active_s[i] / active_known_s[i];
  return activity;
}

EnergyWatch::EnergyWatch() : memory_peak_before_(memory_peak_of_job())
{
  for (std::size_t gpu = 0; gpu < nvml_.size(); ++gpu) {
    ids_.push_back(nvml_.id(gpu));
    names_.push_back(nvml_.name(gpu));
    are_counted_.push_back(!std::isnan(nvml_.joules(gpu)));
  }
  integrated_joules_.assign(nvml_.size(), 0);
  last_power_w_.assign(nvml_.size(), not_measured);
  looked_clock_s_ = monotonic_s();
  take_look(true);
  whole_ = span_from(last_);
}

EnergyWatch::Mark EnergyWatch::mark_now()
{
  Mark mark{looked_clock_s_, host_joules_, {}};
  for (std::size_t gpu = 0; gpu < nvml_.size(); ++gpu)
    mark.gpu_joules.push_back(are_counted_[gpu]                ? nvml_.joules(gpu)
                              : std::isnan(last_power_w_[gpu]) ? not_measured
                                                               : integrated_joules_[gpu]);
  return mark;
}

void EnergyWatch::take_look(bool with_counters)
{
  const double now_s = monotonic_s(), passed_s = now_s - looked_clock_s_;
  looked_clock_s_ = now_s;
  host_joules_ = powercap_.joules();
  for (std::size_t gpu = 0; gpu < nvml_.size(); ++gpu) {
    const auto look = nvml_.look(gpu);
    const double before_w = std::isnan(last_power_w_[gpu]) ? look.power_w : last_power_w_[gpu];
    integrated_joules_[gpu] += 0.5 * (before_w + look.power_w) * passed_s;
    last_power_w_[gpu] = look.power_w;
    if (gpu < whole_.gpus.size()) whole_.gpus[gpu].add(look, passed_s);
    if (measured_) measured_->gpus[gpu].add(look, passed_s);
  }
  if (with_counters) {
    add_activities();
    last_ = mark_now();
  }
}

void EnergyWatch::add_activities()
{
  const double now_s = monotonic_s(), passed_s = now_s - sampled_clock_s_;
  if (passed_s < least_between_samples_s) return;
  sampled_clock_s_ = now_s;
  for (std::size_t gpu = 0; gpu < nvml_.size(); ++gpu) {
    const auto activity = nvml_.activity(gpu);
    if (gpu < whole_.gpus.size()) whole_.gpus[gpu].add(activity, passed_s);
    if (measured_) measured_->gpus[gpu].add(activity, passed_s);
  }
}

void EnergyWatch::look()
{
  if (!is_finished_ && due_in_s() <= 0) take_look(++looks_ % looks_for_counters == 0);
}

void EnergyWatch::begin_again()
{
  if (is_finished_) return;
  take_look(true);
  measured_ = span_from(last_);
}

void EnergyWatch::finish()
{
  if (!is_finished_) take_look(true);
  is_finished_ = true;
}

double EnergyWatch::due_in_s() const { return is_finished_ ? period_s : looked_clock_s_ + period_s - monotonic_s(); }

const EnergyWatch::Span& EnergyWatch::counting() const
{
  return measured_ && last_.clock_s - measured_->begin.clock_s >= least_s ? *measured_ : whole_;
}

GpuEnergy EnergyWatch::gpu(std::size_t number, const Span& span) const
{
  const auto& sums = span.gpus[number];
  GpuEnergy gpu{.index = nvml_.index(number),
                .id = ids_[number],
                .name = names_[number],
                .joules = last_.gpu_joules[number] - span.begin.gpu_joules[number],
                .is_counted = are_counted_[number],
                .least_clock_mhz = sums.least_clock_mhz,
                .activity = sums.activity(),
                .held_back = {}};
  if (sums.busy_known_s > 0) gpu.busy = sums.busy_s / sums.busy_known_s;
  if (sums.clock_known_s > 0) gpu.clock_mhz = sums.clock_mhz_s / sums.clock_known_s;
  if (!std::isnan(sums.memory_peak_bytes)) gpu.memory_peak_bytes = std::llround(sums.memory_peak_bytes);
  for (const auto& [reason, time_s] : sums.held_back_s)
    if (sums.seconds > 0) gpu.held_back[reason] = fmt::format("{:.4f}", time_s / sums.seconds);
  return gpu;
}

NodeEnergy EnergyWatch::node() const
{
  const auto& span = counting();
  NodeEnergy node{.host = host_name(),
                  .machine = machine_here(),
                  .begin_unix_s = now_unix_s() - (monotonic_s() - span.begin.clock_s),
                  .seconds = last_.clock_s - span.begin.clock_s,
                  .of_measured_steps = &span != &whole_,
                  .host_joules = last_.host_joules - span.begin.host_joules,
                  .host_domains = powercap_.domains(),
                  .host_why = powercap_.why(),
                  .gpu_why = nvml_.why(),
                  .gpus = {}};
  if (node.host_why.empty() && std::isnan(node.host_joules)) node.host_why = "powercap could not be read at a look";
  // A peak that was there before the run is not the run's.
  if (const auto peak = memory_peak_of_job(); peak && memory_peak_before_ && *peak > *memory_peak_before_)
    node.memory_peak_bytes = *peak;
  for (std::size_t number = 0; number < nvml_.size(); ++number) node.gpus.push_back(gpu(number, span));
  return node;
}

AttemptEnergy::AttemptEnergy(const AttemptFolder& attempt, const RunSpec& spec)
    : attempt_(attempt), warmup_steps_(spec.train.warmup_steps)
{
}

// An attempt that goes on from a checkpoint warms up again.
void AttemptEnergy::look()
{
  if (!has_warmed_up_)
    if (const auto beat = read_heartbeat(attempt_)) {
      if (!first_step_) first_step_ = attempt_.number() > 1 ? beat->step : 0;
      has_warmed_up_ = beat->step - *first_step_ >= std::max<std::int64_t>(1, warmup_steps_);
      if (has_warmed_up_) watch_.begin_again();
    }
  if (is_there(attempt_.result())) watch_.finish();
  watch_.look();
}

void AttemptEnergy::finish()
{
  watch_.finish();
  if (!peak_) peak_ = processor_peak(home_of(attempt_));
}

NodeEnergy AttemptEnergy::node() const
{
  auto node = watch_.node();
  if (peak_ && !std::isnan(peak_->core_flops)) {
    node.core_flops = peak_->core_flops;
    node.cores = peak_->cores;
    node.core_words = peak_->words;
  }
  return node;
}

std::optional<std::int64_t> memory_peak_of_job(const fs::path& root)
{
  for (const auto& line : split(text_if_readable(root / "proc/self/cgroup"), '\n')) {
    if (!line.starts_with("0::/")) continue;
    // "/system.slice/slurmstepd.scope/job_7/step_0/user/task_0"
    const auto path = line.substr(4);
    const auto job = path.find("job_");
    if (job == std::string::npos || (job > 0 && path[job - 1] != '/')) continue;
    const auto peak = root / "sys/fs/cgroup" / path.substr(0, path.find('/', job)) / "memory.peak";
    return number_of<std::int64_t>(trim(text_if_readable(peak)));
  }
  return std::nullopt;
}

void start_energy_watch(const AttemptFolder& attempt, int rank)
{
  start_beside_rank(attempt, [&](pid_t process) {
    const auto run = read_planned_run(attempt.run_folder());
    const ProcessEnd end(process);
    AttemptEnergy energy(attempt, run.spec);
    const auto path = energy_file(attempt, rank);
    make_folder(path.parent_path());
    int turns = 0;
    for (bool runs = true; runs; ++turns) {
      runs = end.is_still_running(period_s);
      runs ? energy.look() : energy.finish();
      // Between two looks at the counters the record does not change, and the file lies on a file system that all nodes share.
      if (!runs || turns % looks_for_counters == 0) replace_file(path, to_json(energy.node()));
    }
  });
}

namespace {

// A sentence about the run's model FLOPs utilisation: that Winograd's algorithm was used, or why it exceeds 100 %. Empty if
// neither holds or the utilisation is unknown.
std::string words_about_mfu(const AttemptFolder& attempt, const RunEnergy& energy, const RunResult& result)
{
  const double share = result.throughput * result.flops.per_sample / energy.peak_flops;
  if (std::isnan(share)) return {};
  const bool has_winograd = text_if_readable(attempt.algorithms()).find("winograd") != std::string::npos;
  if (has_winograd)
    return "some convolutions run by Winograd's algorithm, which needs fewer operations than are counted, so it may exceed 100 %";
  if (share > 1) return "above 100 %, so the peak is too low; to measure it again, remove the folder peaks of the home";
  return {};
}

} // namespace

EnergyRecord gather_energy(const AttemptFolder& attempt, const RunSpec& spec, const NodeEnergy& own, const RunResult& result)
{
  auto nodes = nodes_in_reports(attempt);
  std::set<std::string> missing;
  const auto begin = read_begin(attempt);
  if (begin) missing.insert(begin->rank_hosts.begin(), begin->rank_hosts.end());
  if (missing.empty() || missing.contains(own.host)) nodes.insert(nodes.begin(), own);
  for (const auto& node : nodes) missing.erase(node.host);
  const auto gpus = gpus_of_ranks(attempt, spec, nodes);
  auto energy = energy_of(std::move(nodes), result, gpus, {missing.begin(), missing.end()}, spec.resources.threads_per_rank);
  if (const auto words = words_about_mfu(attempt, energy.run, result); !words.empty()) energy.run.facts["mfu"] = words;
  return energy;
}

} // namespace dt::jobs
