// A control group with a CPU quota, which this process and all that it starts belong to while the object lives. Needs root.
#pragma once

#include "tests/support/eventually.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace dt::test {

class CpuQuota {
 public:
  // `cores`: 0.5 allows half a core.
  explicit CpuQuota(double cores)
  {
    const std::filesystem::path all = "/sys/fs/cgroup", first = all / "cpu";
    const bool is_v1 = std::filesystem::exists(first / "cpu.cfs_quota_us");
    parent_ = is_v1 ? first : all;
    group_ = parent_ / ("dtctl-test-" + std::to_string(::getpid()));
    std::error_code none;
    if (!std::filesystem::create_directory(group_, none)) return;
    constexpr int period_us = 100'000;
    const auto quota_us = std::to_string(static_cast<int>(cores * period_us));
    is_made_ = is_v1 ? put(group_ / "cpu.cfs_period_us", std::to_string(period_us)) && put(group_ / "cpu.cfs_quota_us", quota_us)
                     : put(group_ / "cpu.max", quota_us + " " + std::to_string(period_us));
    // The quota is what ends the group's time slices, not other processes: on a busy machine, too.
    put(group_ / (is_v1 ? "cpu.shares" : "cpu.weight"), is_v1 ? "262144" : "10000");
    is_made_ = is_made_ && put(group_ / "cgroup.procs", std::to_string(::getpid()));
  }
  CpuQuota(const CpuQuota&) = delete;
  CpuQuota& operator=(const CpuQuota&) = delete;
  ~CpuQuota()
  {
    put(parent_ / "cgroup.procs", std::to_string(::getpid()));
    eventually([&] { // a supervisor leaves when its queue is empty
      std::error_code none;
      return std::filesystem::remove(group_, none) || !std::filesystem::exists(group_);
    });
  }
  // False where no control group can be made.
  bool is_made() const { return is_made_; }
  std::string name() const { return "/" + group_.filename().string(); }

 private:
  static bool put(const std::filesystem::path& file, const std::string& text)
  {
    std::ofstream out(file);
    out << text << std::flush;
    return out.good();
  }
  std::filesystem::path parent_, group_;
  bool is_made_ = false;
};

} // namespace dt::test
