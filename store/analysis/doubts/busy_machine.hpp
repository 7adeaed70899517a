// Detects runs whose machine was busy with other work, and runs that a CPU quota held back. Pure functions over numbers.
#pragma once

#include "core/record/load_record.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// The measurements about the machines of one run.
struct RunConditions {
  std::string run;   // the run's key
  std::string point; // equal for runs that differ only in their repeat
  std::vector<NodeLoad> nodes;
  // Gflop/s, median of its ranks. The key is the host and everything else that must be equal for a comparison.
  std::map<std::string, double> probes;
  double step_spread = not_measured; // 95th percentile / median of the step times, of the rank with the largest ratio
  bool asked = true;                 // false: not reported, only used for comparison
};

// The reasons to assume that a run's machine was busy. A reason that does not apply is 0.
struct BusyRun {
  std::string run;
  double others_share = 0; // share of the cores needed by its threads that other processes used; reported from 10 %
  double steal_share = 0;  // share of its cores that the hypervisor gave to other machines; reported from 5 %
  double load = 0;         // load average; reported if the kernel gives no shares and it is above 1.5 x cores + 1
  std::int64_t cores = 0;  // cores of the machine with that load
  // Against the median of all alike runs on the same host; reported from 25 % and three robust deviations.
  double probe_slower_by = 0;
  double step_spread_ratio = 0; // against the median of all repeats of its point; reported from 2
};

// Returns the asked runs that have a reason, in their order. Probes and spreads are compared only if at least three runs are
// alike, and not of runs that a CPU quota held back: then the quota is the reason.
std::vector<BusyRun> busy_runs(std::span<const RunConditions> runs);

// A run that the CPU quota of a control group held back.
struct ThrottledRun {
  std::string run;
  double share = 0; // of the time of the rank that was held back most
  double quota_cores = not_measured;
};

// Below this share of the time a quota changes no figure noticeably.
inline constexpr double least_throttled_share = 0.05;

// Returns the asked runs that a quota held back for at least that share, in their order.
std::vector<ThrottledRun> throttled_runs(std::span<const RunConditions> runs);

} // namespace dt::store
