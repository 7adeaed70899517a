// load.json of an attempt: how much of the run's machines other processes used while steps were measured, and how long a CPU
// quota held the ranks back.
#pragma once

#include "core/record/attempt_files.hpp"
#include "core/record/field.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dt {

// Load of one machine from the beginning of the first measured step to the end of the last one. Shares are between 0 and 1.
// Values that the kernel does not report are NaN.
struct NodeLoad {
  std::string host;           // several hosts that are namespaces of one machine: "host[0-3]"
  std::int64_t cores = 0;     // online cores of the machine
  std::int64_t own_cores = 0; // cores that the run's ranks may use
  double seconds = not_measured;
  double load_begin = not_measured, load_end = not_measured; // load average over one minute
  // Share of the time of the cores needed by the run's threads that went to processes of others. If the ranks form several groups
  // that share no core, this is the largest share of all groups, because one delayed rank delays all.
  double others_share = not_measured;
  // Share of the time of the run's cores that the hypervisor gave to other virtual machines; the largest share of all groups.
  double steal_share = not_measured;
  double elsewhere_share = not_measured; // share of the time in which the machine's other cores were busy
  // Share of the ranks' time for which the CPU quota of a control group held them back; the largest share of all ranks.
  double throttled_share = not_measured;
  double quota_cores = not_measured; // the smallest quota of any rank's control groups, in cores; NaN: no quota
};

struct LoadRecord {
  double unix_s = 0;
  std::vector<NodeLoad> nodes; // one entry per machine
};

std::filesystem::path load_path(const AttemptFolder& attempt);
std::string to_json(const LoadRecord& load);
std::optional<LoadRecord> read_load(const AttemptFolder& attempt);

} // namespace dt
