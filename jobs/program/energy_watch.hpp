// EnergyWatch: energy and memory of this node, and what its GPUs do, while a run's ranks are on it, of dtengine and of the user's
// own programs alike. dtjob watches its own node; on every other one a process of its own does (docs/design/measuring.md).
#pragma once

#include "core/record/energy_record.hpp"
#include "core/spec/run_spec.hpp"
#include "jobs/machine/nvml.hpp"
#include "jobs/machine/powercap.hpp"
#include "jobs/machine/processor_peak.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs {

class EnergyWatch {
 public:
  // Takes the first look, from which on energy counts. Loading NVML may take seconds.
  EnergyWatch();
  // Takes a look if the last one is older than a second. Every tenth one asks the GPUs' counters of energy and
  // activity, too, which takes milliseconds.
  void look();
  // The measured steps begin: energy counts from here on, if a second or more follows.
  void begin_again();
  // Takes the last look now.
  void finish();
  NodeEnergy node() const;
  // Seconds until look() takes the next one.
  double due_in_s() const;

 private:
  // What the looks at a GPU have added up since a begin. Values that it does not report count for no time.
  struct GpuSums {
    std::array<double, 4> active_s{}, active_known_s{}; // of GpuActivity, in its order
    double busy_s = 0, busy_known_s = 0, clock_mhz_s = 0, clock_known_s = 0, seconds = 0;
    double memory_peak_bytes = not_measured, least_clock_mhz = not_measured;
    std::map<std::string, double> held_back_s;
    void add(const GpuLook& look, double seconds);
    void add(const GpuActivity& activity, double seconds);
    GpuActivity activity() const;
  };
  // The counters at one moment.
  struct Mark {
    double clock_s = 0, host_joules = not_measured;
    std::vector<double> gpu_joules;
  };
  struct Span {
    Mark begin;
    std::vector<GpuSums> gpus;
  };
  Span span_from(const Mark& begin) const { return {begin, std::vector<GpuSums>(nvml_.size())}; }
  const Span& counting() const;
  Mark mark_now();
  void take_look(bool with_counters);
  void add_activities();
  GpuEnergy gpu(std::size_t number, const Span& span) const;

  Powercap powercap_;
  Nvml nvml_;
  std::vector<std::string> ids_, names_;
  std::vector<bool> are_counted_;         // GPUs with an energy counter
  std::vector<double> integrated_joules_; // of the others
  std::vector<double> last_power_w_;
  double looked_clock_s_ = 0, sampled_clock_s_ = 0; // sampled: the GPUs' counters of activity
  double host_joules_ = not_measured;
  int looks_ = 0;
  Span whole_;
  std::optional<Span> measured_;
  Mark last_;
  std::optional<std::int64_t> memory_peak_before_; // of the job's control group
  bool is_finished_ = false;
};

// The same for an attempt: the measured steps begin when the run's heartbeat says that the warm-up is over, and end with its
// result.
class AttemptEnergy {
 public:
  AttemptEnergy(const AttemptFolder& attempt, const RunSpec& spec);
  void look();
  // The ranks of this node have ended, so their cores are free to be measured.
  void finish();
  NodeEnergy node() const;

 private:
  AttemptFolder attempt_;
  std::int64_t warmup_steps_;
  std::optional<std::int64_t> first_step_; // that this attempt was seen at
  bool has_warmed_up_ = false;
  EnergyWatch watch_;
  std::optional<ProcessorPeak> peak_; // after finish()
};

// memory.peak of the control group that Slurm made for this process's job. Nothing if there is none. `root`: for tests.
std::optional<std::int64_t> memory_peak_of_job(const std::filesystem::path& root = "/");

// Called by the first rank of a host before it becomes the program: if dtjob runs on another host, starts a process that watches
// this host, keeps its NodeEnergy in a file of the attempt's reports and ends with the calling process.
void start_energy_watch(const AttemptFolder& attempt, int rank);

// The record of an attempt that has a result. `own`: what dtjob has measured on its node.
EnergyRecord gather_energy(const AttemptFolder& attempt, const RunSpec& spec, const NodeEnergy& own, const RunResult& result);

} // namespace dt::jobs
