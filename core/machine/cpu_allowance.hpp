// How much processor time this process may use: its cores, and the CPU quotas of its control groups.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace dt {

struct CpuAllowance {
  std::vector<int> cores; // in the affinity mask, ascending. The kernel keeps the mask within the cpuset of the control group.
  // Seconds of processor time per second that the tightest CPU quota of all control groups allows: 0.5 is half a core. Infinite
  // without a quota. Shares and weights are no quota: they limit nothing while the machine is idle.
  double quota = std::numeric_limits<double>::infinity();
  std::string group{}; // the control group with that quota

  bool has_quota() const; // that allows less than all cores
  // Cores that this process can keep busy: those of the mask, at most as many as the quota pays for; at least one.
  std::size_t whole_cores() const;
  // "control group /q has a CPU quota of 0.5 cores"; empty if no quota allows less than the cores.
  std::string quota_text() const;
};

// Reads /proc and /sys/fs/cgroup below `root`; the mask is this process's own. `process`: whose control groups.
CpuAllowance cpu_allowance(const std::filesystem::path& root = "/", const std::string& process = "self");

// How long each control group has held back its threads so far because of its CPU quota, in seconds summed over cores. The key
// identifies the group on this machine. Groups for which the kernel does not count it are missing.
std::map<std::string, double> throttled_times(const std::filesystem::path& root = "/", const std::string& process = "self");

// "0-3,8" for {0,1,2,3,8}; "" for none.
std::string mask_text(const std::vector<int>& cores);
// Inverse of mask_text().
std::vector<int> parse_mask(const std::string& text);

} // namespace dt
