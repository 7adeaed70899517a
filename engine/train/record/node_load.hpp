// Node load: how much other programs used a run's cores during its measured steps.
#pragma once

#include "core/record/load_record.hpp"
#include "engine/comm/communicator.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dt::train {

// A core's time in seconds since the machine was started.
struct CoreTimes {
  double busy_s = 0;  // in programs, and in the kernel for them; excludes interrupts, waiting for disks and idle time
  double steal_s = 0; // given to other virtual machines by the hypervisor
};

// Parses the cores in /proc/stat, whose times are in ticks. Empty if the text has another format.
std::map<int, CoreTimes> parse_core_times(std::string_view text, double ticks_per_s);

// A measurement of this process and its machine at one moment.
struct LoadLook {
  double clock_s = 0;
  double own_s = 0;           // processor time of all threads of this process
  double load = not_measured; // load average over one minute
  std::map<int, CoreTimes> cores;
};
LoadLook look_at_load();

// The load of a rank's machine and the processor time of the rank between two moments.
struct RankLoad {
  std::string machine; // equal for hosts that are containers on one machine
  std::string host;
  std::vector<int> mask;    // cores that the rank may use
  std::int64_t threads = 1; // that the rank keeps busy
  double seconds = 0, own_s = 0;
  double load_begin = not_measured, load_end = not_measured;
  std::map<int, CoreTimes> cores; // difference between the two moments; all cores of the machine
};
RankLoad load_between(const LoadLook& begin, const LoadLook& end, const std::vector<int>& mask, std::int64_t threads);

// One record per machine. Ranks that share cores, directly or through other ranks, form a group. Busy time of the group's cores
// beyond the ranks' own processor time counts as other programs' time. Cores beyond the group's number of threads may be used by
// others without harm.
std::vector<NodeLoad> node_loads(const std::vector<RankLoad>& ranks);

// The records of all machines, on every rank. Collective.
LoadRecord gather_load(const RankLoad& mine, comm::Communicator& comm);

} // namespace dt::train
