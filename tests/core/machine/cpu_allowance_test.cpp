#include "core/machine/cpu_allowance.hpp"

#include "core/machine/process.hpp"
#include "tests/core/shown_files.hpp"

#include <cmath>
#include <set>
#include <string>

#include <catch2/catch.hpp>

using namespace dt;

namespace {

struct System : test::ShownFiles {
  double quota() const { return cpu_allowance(root()).quota; }
  // The times of all groups, in no order that counts.
  std::multiset<double> throttled() const
  {
    std::multiset<double> times;
    for (const auto& [group, time_s] : throttled_times(root())) times.insert(time_s);
    return times;
  }
};

CpuAllowance allowance_of(std::size_t cores, double quota)
{
  CpuAllowance allowance;
  for (std::size_t i = 0; i < cores; ++i) allowance.cores.push_back(static_cast<int>(i));
  allowance.quota = quota;
  allowance.group = "/q";
  return allowance;
}

} // namespace

TEST_CASE("without control groups only the affinity mask limits the cores")
{
  const auto allowance = cpu_allowance(System().root());
  CHECK(allowance.cores == cores_in_mask());
  CHECK(std::isinf(allowance.quota));
  CHECK_FALSE(allowance.has_quota());
  CHECK(allowance.whole_cores() == cores_in_mask().size());
  CHECK(allowance.quota_text().empty());
  CHECK(throttled_times(System().root()).empty());
}

TEST_CASE("a CPU quota of version 1 is read, and -1 is none")
{
  const System system;
  system.put("proc/self/cgroup", "2:memory:/else\n1:cpu,cpuacct:/q\n0::/\n");
  system.put("sys/fs/cgroup/cpu/q/cpu.cfs_period_us", "100000\n");
  system.put("sys/fs/cgroup/cpu/q/cpu.cfs_quota_us", "-1\n");
  CHECK(std::isinf(system.quota()));
  system.put("sys/fs/cgroup/cpu/q/cpu.cfs_quota_us", "50000\n");
  CHECK(system.quota() == 0.5);
  CHECK(cpu_allowance(system.root()).group == "/q");
}

TEST_CASE("controllers of version 1 that share a folder are found where no link names one of them")
{
  const System system;
  system.put("proc/self/cgroup", "3:cpuacct,cpu:/docker/abc\n");
  // A container sees its own group as the uppermost one, under the path that the host gave it.
  system.put("sys/fs/cgroup/cpuacct,cpu/cpu.cfs_period_us", "50000\n");
  system.put("sys/fs/cgroup/cpuacct,cpu/cpu.cfs_quota_us", "75000\n");
  CHECK(system.quota() == 1.5);
  CHECK(cpu_allowance(system.root()).group == "/");
}

TEST_CASE("a CPU quota of version 2 is read, and max and weights are none")
{
  const System system;
  system.put("proc/self/cgroup", "0::/user.slice/run-7.scope\n");
  const std::string group = "sys/fs/cgroup/user.slice/run-7.scope/";
  system.put(group + "cpu.weight", "1\n");
  system.put(group + "cpu.max", "max 100000\n");
  CHECK(std::isinf(system.quota()));
  system.put(group + "cpu.max", "50000 100000\n");
  CHECK(system.quota() == 0.5);
}

TEST_CASE("of nested control groups the smallest quota counts, whichever level has it")
{
  const System system;
  system.put("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  system.put("sys/fs/cgroup/cpu.max", "800000 100000\n"); // of a container
  system.put("sys/fs/cgroup/slurm/job_7/cpu.max", "150000 100000\n");
  system.put("sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "400000 100000\n");
  CHECK(system.quota() == 1.5);
  CHECK(cpu_allowance(system.root()).group == "/slurm/job_7");
  system.put("sys/fs/cgroup/cpu.max", "100000 100000\n");
  CHECK(system.quota() == 1);
  CHECK(cpu_allowance(system.root()).group == "/");
}

TEST_CASE("the control groups of another process are its own")
{
  const System system;
  system.put("proc/self/cgroup", "0::/\n");
  system.put("proc/42/cgroup", "0::/q\n");
  system.put("sys/fs/cgroup/q/cpu.max", "50000 100000\n");
  CHECK(std::isinf(system.quota()));
  CHECK(cpu_allowance(system.root(), "42").quota == 0.5);
}

TEST_CASE("throttled time is read at every level and in the unit of its version")
{
  const System system;
  system.put("proc/self/cgroup", "1:cpu:/a/b\n");
  system.put("sys/fs/cgroup/cpu/a/b/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 1500000000\n");
  system.put("sys/fs/cgroup/cpu/a/cpu.stat", "nr_periods 9\nnr_throttled 3\nthrottled_time 250000000\n");
  CHECK(system.throttled() == std::multiset<double>{0.25, 1.5});
  system.put("proc/self/cgroup", "0::/c\n");
  system.put("sys/fs/cgroup/c/cpu.stat", "usage_usec 77\nnr_throttled 3\nthrottled_usec 4500000\n");
  CHECK(system.throttled() == std::multiset<double>{4.5});
}

TEST_CASE("a quota leaves the whole cores that it pays for, and at least one")
{
  CHECK(allowance_of(8, 2).whole_cores() == 2);
  CHECK(allowance_of(8, 2.9).whole_cores() == 2);
  CHECK(allowance_of(8, 1.99999).whole_cores() == 2);
  CHECK(allowance_of(8, 0.5).whole_cores() == 1);
  CHECK(allowance_of(2, 8).whole_cores() == 2);
  CHECK_FALSE(allowance_of(2, 8).has_quota());
  CHECK(allowance_of(2, 0.5).quota_text() == "control group /q has a CPU quota of 0.5 cores");
}

TEST_CASE("a mask is written as ranges and read back")
{
  CHECK(mask_text({}).empty());
  CHECK(mask_text({5}) == "5");
  CHECK(mask_text({0, 1, 2, 3, 8}) == "0-3,8");
  CHECK(mask_text({0, 2, 4, 5}) == "0,2,4-5");
  for (const auto& cores : {std::vector<int>{}, {7}, {0, 1}, {0, 2, 3, 10, 11, 12}}) CHECK(parse_mask(mask_text(cores)) == cores);
}
