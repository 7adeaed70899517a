// Runs whose machine was busy with something else. Pure functions over numbers.
#pragma once

#include "core/load_record.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// What is known of the machines of one run.
struct RunConditions {
  std::string run;   // key
  std::string point; // equal for the runs that differ in their repeat only
  std::vector<NodeLoad> nodes;
  std::map<std::string, double> probes; // Gflop/s, median of its ranks, by host and what else must be alike to be compared
  double step_spread = not_measured;    // 95th percentile of the step times by their median, of the most scattered rank
  bool asked = true; // false: it is only what others are compared with
};

// Why a run's machine is taken to have been busy. What is no reason is 0.
struct BusyRun {
  std::string run;
  double others_share = 0;     // of the cores that its threads needed, taken by other processes: from 10 %
  double steal_share = 0;      // of its cores, taken by the hypervisor for other machines: from 5 %
  double load = 0;             // load average, where the kernel tells no shares: above 1.5 times the cores, and one more
  std::int64_t cores = 0;      // of the machine with that load
  double probe_slower_by = 0;  // than the median of other runs on the same host: from 25 %, and beyond three robust deviations
  double step_spread_ratio = 0; // to the median of its other repeats: from twofold
};

// The runs that were asked about and have a reason, in their order. Probes and spreads are compared only where three runs are alike.
std::vector<BusyRun> busy_runs(std::span<const RunConditions> runs);

// "during 3 of 5 runs: other processes took up to 48 % of the cores that the ranks needed (3 runs); …".
std::string describe(std::span<const BusyRun> busy, std::size_t of_runs);

} // namespace dt::store
