// Node load: how much other programs used a run's cores, and how long a CPU quota held the run back.
#pragma once

#include "core/record/load_record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace dt {

// A core's time in seconds since the machine was started.
struct CoreTimes {
  double busy_s = 0;  // in programs, and in the kernel for them; excludes interrupts, waiting for disks and idle time
  double steal_s = 0; // given to other virtual machines by the hypervisor
};

// Parses the cores in /proc/stat, whose times are in ticks. Empty if the text has another format.
std::map<int, CoreTimes> parse_core_times(std::string_view text, double ticks_per_s);

// A measurement of a rank and its machine at one moment.
struct LoadLook {
  double clock_s = 0;         // of a monotonic clock
  double own_s = 0;           // processor time of all threads of the rank
  double load = not_measured; // load average over one minute
  std::map<int, CoreTimes> cores;
  std::map<std::string, double> throttled_s; // of each control group of the rank (core/machine/cpu_allowance.hpp)
  double quota_cores = not_measured;         // NaN: no quota
};
// Without own_s. `process`: the rank's, whose control groups count.
LoadLook look_at_machine(const std::string& process = "self");

// Processor time of a process, of its children that live, and of all that it has waited for, in seconds. Nothing if there is no
// such process, or if it has ended.
std::optional<double> processor_time_of_tree(pid_t process);

// The load of a rank's machine and the processor time of the rank between two moments.
struct RankLoad {
  std::string machine; // equal for hosts that are containers on one machine
  std::string host;
  std::vector<int> mask;    // cores that the rank may use
  std::int64_t threads = 1; // that the rank keeps busy
  double seconds = 0, own_s = 0;
  double load_begin = not_measured, load_end = not_measured;
  double quota_cores = not_measured;
  std::map<int, CoreTimes> cores;            // difference between the two moments; all cores of the machine
  std::map<std::string, double> throttled_s; // the same, of each control group
};
RankLoad load_between(const LoadLook& begin, const LoadLook& end, const std::vector<int>& mask, std::int64_t threads);

// Text form, to send or to store.
std::string to_text(const RankLoad& load);
RankLoad parse_rank_load(const std::string& text);

// One record per machine. Ranks that share cores, directly or through other ranks, form a group. Busy time of the group's cores
// beyond the ranks' own processor time counts as other programs' time. Cores beyond the group's number of threads may be used by
// others without harm, and so may the time for which a CPU quota held the group's threads back.
std::vector<NodeLoad> node_loads(const std::vector<RankLoad>& ranks);

} // namespace dt
