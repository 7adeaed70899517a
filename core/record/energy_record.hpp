// energy.json of an attempt: energy and memory of its nodes, and what their GPUs did, as dtjob measured it on each node without
// the program's help (jobs/program/energy_watch.hpp); and the peak of the processors that the run has used.
#pragma once

#include "core/record/attempt_files.hpp"
#include "core/record/field.hpp"
#include "core/record/run_record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// One GPU, or one part of a GPU that is divided (MIG). Values that it does not report are NaN.
struct GpuEnergy {
  int index = 0; // of a part: of its GPU
  std::string id, name;
  double joules = not_measured;
  bool is_counted = false; // by its own counter; else its power was integrated
  double busy = not_measured, clock_mhz = not_measured, least_clock_mhz = not_measured;
  std::int64_t memory_peak_bytes = not_counted;
  GpuActivity activity;
  TextMap held_back; // shares of the time, "0.25", by reason
};

// One node, over the measured steps or, where these were too short or are not known, from the launch of the ranks to their end.
struct NodeEnergy {
  std::string host, machine;
  double begin_unix_s = not_measured, seconds = not_measured;
  bool of_measured_steps = false;
  double host_joules = not_measured;
  std::string host_domains, host_why;
  std::string gpu_why; // why there are no GPUs
  std::int64_t memory_peak_bytes = not_counted;
  // Multiply-adds in registers, of one core of the job's on this node while all of them compute: FLOP/s in fp32, how many cores
  // the job has, and of what processor, measured where and when.
  double core_flops = not_measured;
  std::int64_t cores = not_counted;
  std::string core_words{};
  std::vector<GpuEnergy> gpus; // all of the node
};

struct EnergyRecord {
  RunEnergy run;
  std::vector<NodeEnergy> nodes;
};

std::filesystem::path energy_path(const AttemptFolder& attempt);
std::string to_json(const EnergyRecord& energy);
std::optional<EnergyRecord> read_energy(const AttemptFolder& attempt);

// A node's own file, on a host where dtjob does not run.
std::string to_json(const NodeEnergy& node);
std::optional<NodeEnergy> parse_node_energy(std::string_view text);

// The GPUs that the ranks of each host use, as CUDA_VISIBLE_DEVICES names them: numbers or UUIDs, which may be cut short. A host
// that is missing: not known.
using GpusOfHosts = std::map<std::string, std::vector<std::string>>;

// The figures of the run. Nodes that are namespaces of one machine count once. `missing`: hosts that nobody has measured.
// `threads`: that a rank computes with.
EnergyRecord energy_of(std::vector<NodeEnergy> nodes, const RunResult& result, const GpusOfHosts& gpus,
                       const std::vector<std::string>& missing, std::int64_t threads);

} // namespace dt
