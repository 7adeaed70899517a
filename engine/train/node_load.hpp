// Node load: who else used a run's cores while its steps were measured.
#pragma once

#include "core/load_record.hpp"
#include "engine/comm/communicator.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dt::engine {

// A core's time since the machine was started, in seconds.
struct CoreTimes {
  double busy_s = 0;  // in programs and in the kernel on their behalf; interrupts, waiting for disks and idleness left out
  double steal_s = 0; // given to other machines by the hypervisor
};

// The cores of a /proc/stat, whose times are in ticks; none when it is not one.
std::map<int, CoreTimes> parse_core_times(std::string_view text, double ticks_per_s);

// One look at this process and its machine.
struct LoadLook {
  double clock_s = 0;
  double own_s = 0;          // processor time of this process, all threads
  double load = not_measured; // average over a minute
  std::map<int, CoreTimes> cores;
};
LoadLook look_at_load();

// What a rank saw between two looks.
struct RankLoad {
  std::string machine;        // equal on hosts that are namespaces of one machine
  std::string host;
  std::vector<int> mask;      // cores that the rank may use
  std::int64_t threads = 1;   // that it keeps busy
  double seconds = 0, own_s = 0;
  double load_begin = not_measured, load_end = not_measured;
  std::map<int, CoreTimes> cores; // between the looks; all cores of the machine
};
RankLoad load_between(const LoadLook& begin, const LoadLook& end, const std::vector<int>& mask, std::int64_t threads);

// A record a machine. Ranks that share cores, directly or through others, are one group: what their cores were busy with beyond the
// ranks' own processor time belongs to others. Cores that a group has beyond its threads may be used by others without harm.
std::vector<NodeLoad> node_loads(const std::vector<RankLoad>& ranks);

// The machines' records on rank 0; none elsewhere. Collective.
LoadRecord gather_load(const RankLoad& mine, Communicator& comm);

} // namespace dt::engine
