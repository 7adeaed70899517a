#include "core/record/energy_record.hpp"

#include "core/counted.hpp"
#include "core/record/device_peak.hpp"
#include "core/record/fields.hpp"
#include "core/record/json_fields.hpp"
#include "core/record/parse.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>

namespace dt {

namespace {

record::Json json_of_node(const NodeEnergy& node)
{
  auto json = record::json_of(node, node_energy_fields());
  json["gpus"] = record::Json::array();
  for (const auto& gpu : node.gpus) json["gpus"].push_back(record::json_of(gpu, gpu_energy_fields()));
  return json;
}

NodeEnergy energy_of_node(const record::Json& json)
{
  auto node = record::record_of(json, node_energy_fields());
  for (const auto& gpu : json.at("gpus")) node.gpus.push_back(record::record_of(gpu, gpu_energy_fields()));
  return node;
}

// ---- which GPUs count ---------------------------------------------------------------------------------------------------

bool is_part(const std::string& name) { return name.starts_with("MIG-"); }

bool is_named(const GpuEnergy& gpu, const std::vector<std::string>& names)
{
  return std::any_of(names.begin(), names.end(), [&](const auto& name) {
    return (name == std::to_string(gpu.index) && !is_part(gpu.id)) ||
           ((name.starts_with("GPU-") || is_part(name)) && gpu.id.starts_with(name));
  });
}

// A rank that sees a divided GPU by its number computes on one of its parts.
bool is_divided(const GpuEnergy& gpu, const std::vector<GpuEnergy>& all)
{
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& other) { return other.index == gpu.index && is_part(other.id) != is_part(gpu.id); });
}

// CUDA_VISIBLE_DEVICES for none.
bool is_none(const std::string& name) { return name.empty() || name == "-1" || name == "NoDevFiles"; }

// The GPUs of a node that count. `why`: why they are not all that the ranks use.
std::vector<GpuEnergy> used_gpus(const NodeEnergy& node, const GpusOfHosts& of_hosts, TextMap& facts, std::string& why)
{
  const auto found = of_hosts.find(node.host);
  const bool are_known = found != of_hosts.end();
  auto names = are_known ? found->second : std::vector<std::string>();
  std::erase_if(names, is_none);
  std::vector<GpuEnergy> used;
  for (const auto& gpu : node.gpus)
    if (are_known ? is_named(gpu, names) : !is_part(gpu.id)) used.push_back(gpu);
  if (!are_known && used.size() > 1) facts["GPUs"] = "all of a node, because it is not known which ones the ranks use";
  if (std::any_of(names.begin(), names.end(), is_part) ||
      std::any_of(used.begin(), used.end(), [&](const auto& gpu) { return is_divided(gpu, node.gpus); }))
    why = "the ranks use parts of GPUs (MIG), whose energy is not counted apart";
  else if (std::set<std::string>(names.begin(), names.end()).size() > used.size())
    why = "NVML does not see all GPUs of the ranks";
  return used;
}

// ---- sums and means -----------------------------------------------------------------------------------------------------

struct Totals {
  double joules = 0, watts = 0;
  std::size_t nodes = 0, gpus = 0;
  std::string why; // the first reason why a part is missing
  void add(double more, double seconds)
  {
    joules += more;
    watts += more / seconds;
  }
  bool is_whole() const { return why.empty() && nodes > 0; }
};

double sum_of_known(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : a + b; }

// The mean of the values that are not NaN.
double mean(const std::vector<double>& values)
{
  double sum = 0, count = 0;
  for (const double value : values)
    if (!std::isnan(value)) sum += value, ++count;
  return count > 0 ? sum / count : not_measured;
}

GpuActivity mean(const std::vector<GpuActivity>& activities)
{
  const auto mean_of = [&](double GpuActivity::*share) {
    std::vector<double> values;
    for (const auto& activity : activities) values.push_back(activity.*share);
    return mean(values);
  };
  return {mean_of(&GpuActivity::sm_busy), mean_of(&GpuActivity::occupancy), mean_of(&GpuActivity::tensor_busy),
          mean_of(&GpuActivity::memory_bandwidth)};
}

void keep_reason(std::string& why, const std::string& reason)
{
  if (why.empty()) why = reason;
}

Totals host_totals(const std::vector<const NodeEnergy*>& machines)
{
  Totals totals;
  for (const auto* node : machines) {
    ++totals.nodes;
    if (!(node->seconds > 0))
      keep_reason(totals.why, "the run was too short");
    else if (std::isnan(node->host_joules))
      keep_reason(totals.why, node->host_why);
    else
      totals.add(node->host_joules, node->seconds);
  }
  return totals;
}

// Sums over the GPUs that the run used. A GPU that several hosts see is added once.
struct UsedGpus {
  Totals totals;
  std::vector<double> busy, clocks;
  std::vector<GpuActivity> activities;
  std::int64_t memory_peak_bytes = not_counted;
  std::map<std::string, double> held_back; // sums of shares
  std::map<std::string, int> names;
  bool are_counted = true;
  bool are_none() const { return totals.nodes > 0 && totals.gpus == 0 && totals.why.empty(); }
};

void add_gpu(UsedGpus& all, const GpuEnergy& gpu, double seconds)
{
  ++all.totals.gpus;
  ++all.names[gpu.name];
  if (!(seconds > 0))
    keep_reason(all.totals.why, "the run was too short");
  else if (std::isnan(gpu.joules))
    keep_reason(all.totals.why, "NVML gives neither the energy nor the power of " + gpu.name);
  else
    all.totals.add(gpu.joules, seconds);
  all.are_counted = all.are_counted && gpu.is_counted;
  all.busy.push_back(gpu.busy);
  all.clocks.push_back(gpu.clock_mhz);
  all.activities.push_back(gpu.activity);
  all.memory_peak_bytes = std::max(all.memory_peak_bytes, gpu.memory_peak_bytes);
  for (const auto& [reason, share] : gpu.held_back) all.held_back[reason] += std::strtod(share.c_str(), nullptr);
}

UsedGpus gpus_of(const std::vector<NodeEnergy>& nodes, const GpusOfHosts& of_hosts, TextMap& facts)
{
  UsedGpus all;
  std::set<std::string> seen;
  for (const auto& node : nodes) {
    ++all.totals.nodes;
    if (!node.gpu_why.empty()) keep_reason(all.totals.why, node.gpu_why);
    std::string why;
    const auto used = used_gpus(node, of_hosts, facts, why);
    if (!why.empty()) keep_reason(all.totals.why, why);
    for (const auto& gpu : used)
      if (seen.insert(node.machine + gpu.id).second) add_gpu(all, gpu, node.seconds);
  }
  return all;
}

// Ranks of a node share pages, so the sum is at most too large.
std::int64_t largest_of_ranks(const RunResult& result)
{
  std::map<std::string, std::int64_t> of_hosts;
  std::int64_t largest = not_counted;
  for (const auto& rank : result.ranks) {
    if (rank.memory_peak_bytes == not_counted) return not_counted;
    largest = std::max(largest, of_hosts[rank.host] += rank.memory_peak_bytes);
  }
  return largest;
}

void add_host_memory(RunEnergy& run, const std::vector<NodeEnergy>& nodes, const RunResult& result)
{
  std::int64_t largest = not_counted;
  bool all_have_it = !nodes.empty();
  for (const auto& node : nodes) {
    all_have_it = all_have_it && node.memory_peak_bytes != not_counted;
    largest = std::max(largest, node.memory_peak_bytes);
  }
  run.host_memory_peak_bytes = all_have_it ? largest : largest_of_ranks(result);
  run.facts["host memory"] = all_have_it                                 ? "memory.peak of the job's control group"
                             : run.host_memory_peak_bytes != not_counted ? "sum of the largest resident sets of a node's ranks"
                                                                         : "the ranks did not report it";
}

std::string words_of(const std::map<std::string, int>& names)
{
  std::vector<std::string> words;
  for (const auto& [name, count] : names) words.push_back(fmt::format("{} x {}", count, name));
  return join(words, ", ");
}

std::string held_back_words(const UsedGpus& all)
{
  std::vector<std::string> words;
  for (const auto& [reason, sum] : all.held_back)
    words.push_back(fmt::format("{} {:.1f} % of the time", reason, 100 * sum / static_cast<double>(all.totals.gpus)));
  return words.empty() ? "nothing seen" : join(words, ", ");
}

// One host for each machine. If several hosts are namespaces of one machine, all of them read the same counters, so the host with
// the longest measurement is taken.
std::vector<const NodeEnergy*> machines_of(const std::vector<NodeEnergy>& nodes)
{
  std::map<std::string, const NodeEnergy*> by_machine;
  for (const auto& node : nodes) {
    auto& machine = by_machine[node.machine];
    if (machine == nullptr || !(machine->seconds >= node.seconds)) machine = &node;
  }
  std::vector<const NodeEnergy*> machines;
  for (const auto& [name, node] : by_machine) machines.push_back(node);
  return machines;
}

void add_gpus(RunEnergy& run, const UsedGpus& gpus)
{
  const bool are_known = gpus.totals.gpus > 0 || gpus.are_none();
  if (are_known) run.gpus = static_cast<std::int64_t>(gpus.totals.gpus);
  run.gpu_busy = mean(gpus.busy);
  run.gpu_clock_mhz = mean(gpus.clocks);
  run.gpu_activity = mean(gpus.activities);
  run.gpu_memory_peak_bytes = gpus.memory_peak_bytes;
  if (gpus.totals.gpus > 0) run.facts["GPU clocks were held back by"] = held_back_words(gpus);
  const bool are_whole = gpus.totals.is_whole() && gpus.totals.gpus > 0;
  if (are_whole) run.gpu_joules = gpus.totals.joules;
  run.facts["GPU energy"] = are_whole
                                ? (gpus.are_counted ? "NVML's energy counter of " : "NVML's power of ") + words_of(gpus.names)
                            : gpus.are_none()         ? "the ranks use no GPU"
                            : gpus.totals.why.empty() ? "no node"
                                                      : gpus.totals.why;
}

} // namespace

std::filesystem::path energy_path(const AttemptFolder& attempt) { return attempt.path_of(AttemptFile::energy); }

std::string to_json(const EnergyRecord& energy)
{
  RunResult result;
  result.energy = energy.run;
  record::Json json{{"schema", record::schema}};
  json.update(record::json_of(result, result_fields(), Presence::energy));
  json["nodes"] = record::Json::array();
  for (const auto& node : energy.nodes) json["nodes"].push_back(json_of_node(node));
  return record::dump(json);
}

std::optional<EnergyRecord> read_energy(const AttemptFolder& attempt)
{
  return record::read(energy_path(attempt), record::parse_energy);
}

std::optional<EnergyRecord> record::parse_energy(std::string_view text)
{
  return parse_with<EnergyRecord>(text, [](const record::Json& json) {
    EnergyRecord energy{record::record_of(json, result_fields(), Presence::energy).energy, {}};
    for (const auto& node : json.at("nodes")) energy.nodes.push_back(energy_of_node(node));
    return energy;
  });
}

std::string to_json(const NodeEnergy& node)
{
  record::Json json{{"schema", record::schema}};
  json.update(json_of_node(node));
  return record::dump(json);
}

std::optional<NodeEnergy> parse_node_energy(std::string_view text)
{
  return record::parse_with<NodeEnergy>(text, energy_of_node);
}

namespace {

// The cores that the workers compute on: as many as their threads, at most those of each machine. Hosts that are namespaces of
// one machine share its cores.
RunCores cores_of(const RunResult& result, const std::vector<NodeEnergy>& nodes, std::int64_t threads)
{
  struct Machine {
    const NodeEnergy* node = nullptr;
    std::int64_t threads = 0;
  };
  std::map<std::string, Machine> machines;
  for (const auto& rank : result.ranks) {
    if (rank.role != "worker") continue;
    const auto node = std::ranges::find(nodes, rank.host, &NodeEnergy::host);
    if (node == nodes.end() || std::isnan(node->core_flops) || node->cores <= 0) return {};
    auto& machine = machines[node->machine.empty() ? node->host : node->machine];
    machine.threads += threads;
    if (machine.node == nullptr || node->cores > machine.node->cores) machine.node = &*node;
  }
  RunCores cores{.flops = 0, .words = {}};
  for (const auto& [name, machine] : machines) {
    const auto used = std::min(machine.threads, machine.node->cores);
    cores.count += used;
    cores.flops += static_cast<double>(used) * machine.node->core_flops;
    if (cores.words.find(machine.node->core_words) == std::string::npos)
      cores.words += (cores.words.empty() ? "" : ", ") + machine.node->core_words;
  }
  return cores.count > 0 ? cores : RunCores{};
}

} // namespace

EnergyRecord energy_of(std::vector<NodeEnergy> nodes, const RunResult& result, const GpusOfHosts& gpus,
                       const std::vector<std::string>& missing, std::int64_t threads)
{
  RunEnergy run;
  const auto machines = machines_of(nodes);
  auto host = host_totals(machines);
  auto used = gpus_of(nodes, gpus, run.facts);
  for (auto* totals : {&host, &used.totals})
    if (!missing.empty()) keep_reason(totals->why, "not measured on " + join(missing, ", "));
  bool of_measured_steps = !nodes.empty();
  for (const auto& node : nodes) {
    run.seconds = std::fmax(run.seconds, node.seconds); // fmax ignores NaN
    of_measured_steps = of_measured_steps && node.of_measured_steps;
  }
  run.facts["measured"] = of_measured_steps ? "from the begin of the measured steps to the end of the training"
                                            : "from the launch of the ranks to their end";
  if (host.is_whole()) run.host_joules = host.joules;
  add_gpus(run, used);
  run.joules = sum_of_known(run.host_joules, run.gpu_joules);
  run.watts =
      sum_of_known(host.is_whole() ? host.watts : not_measured, std::isnan(run.gpu_joules) ? not_measured : used.totals.watts);
  if (result.throughput > 0) run.joules_per_sample = run.watts / result.throughput;
  run.facts["host energy"] = host.is_whole()    ? "RAPL: " + machines.front()->host_domains
                             : host.why.empty() ? "no node"
                                                : host.why;
  add_host_memory(run, nodes, result);
  auto peak = peak_of(result, run.gpus, cores_of(result, nodes, threads));
  run.peak_flops = peak.flops;
  run.facts["peak"] = std::move(peak.words);
  return {std::move(run), std::move(nodes)};
}

} // namespace dt
