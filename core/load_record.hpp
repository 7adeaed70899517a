// Who else used a run's machines while its steps were measured: load.json of an attempt.
#pragma once

#include "core/run_record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dt {

// Of one machine, between the beginning of the first measured step and the end of the last one. Shares lie between 0 and 1; what the
// kernel does not tell is NaN.
struct NodeLoad {
  std::string host;           // hosts that are namespaces of one machine together: "host[0-3]"
  std::int64_t cores = 0;     // of the machine, online
  std::int64_t own_cores = 0; // that the run's ranks may use
  double seconds = not_measured;
  double load_begin = not_measured, load_end = not_measured; // load average over a minute
  // Of the cores that the run's threads needed: time that went to processes which are not the run's. Of several groups of ranks that
  // share no core the largest such share, because one delayed rank delays all.
  double others_share = not_measured;
  double steal_share = not_measured;     // of its cores: time that the hypervisor gave to other machines; of several groups the largest
  double elsewhere_share = not_measured; // of the machine's other cores: time in which they were busy
};

struct LoadRecord {
  double unix_s = 0;
  std::vector<NodeLoad> nodes; // a machine
};

std::filesystem::path load_path(const AttemptFolder& attempt);
std::string to_json(const LoadRecord& load);
std::optional<LoadRecord> read_load(const AttemptFolder& attempt);

} // namespace dt
