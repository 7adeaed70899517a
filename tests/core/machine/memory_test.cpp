#include "core/machine/memory.hpp"
#include "tests/core/shown_files.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace dt;

namespace {

struct System : test::ShownFiles {
  System() { put("proc/meminfo", "MemTotal:       4000 kB\nMemFree:         100 kB\nMemAvailable:   3000 kB\n"); }
  std::int64_t available() const { return machine_memory(root()).available; }
};

} // namespace

TEST_CASE("without control groups what the machine has available is, a limit above it does not bind, and a full group has next "
          "to nothing left")
{
  const System system;
  CHECK(machine_memory(system.root()).total == 4000 * 1024);
  CHECK(system.available() == 3000 * 1024);
  const System above;
  above.put("proc/self/cgroup", "4:memory:/\n");
  above.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  above.put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1500000\n");
  CHECK(above.available() == 3000 * 1024);
  const System full;
  full.put("proc/self/cgroup", "0::/a\n");
  full.put("sys/fs/cgroup/a/memory.max", "1000\n");
  full.put("sys/fs/cgroup/a/memory.current", "1000\n");
  CHECK(full.available() == 1);
}

TEST_CASE("a control group of version 2 limits what is available, and so does one above it")
{
  const System system;
  system.put("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  const std::string job = "sys/fs/cgroup/slurm/job_7/";
  system.put(job + "memory.max", "1000000\n");
  system.put(job + "memory.current", "400000\n");
  system.put(job + "memory.stat", "anon 300000\ninactive_file 50000\nactive_file 50000\n");
  CHECK(system.available() == 650000);
  system.put(job + "step_0/memory.max", "max\n");
  system.put(job + "step_0/memory.current", "400000\n");
  CHECK(system.available() == 650000);
  system.put(job + "step_0/memory.max", "500000\n");
  CHECK(system.available() == 100000);
}

TEST_CASE("a control group of version 1 limits what is available")
{
  const System system;
  system.put("proc/self/cgroup", "5:devices:/\n4:cpu,memory:/job\n0::/\n");
  system.put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000000\n");
  system.put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1500000\n");
  system.put("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n");
  CHECK(system.available() == 600000);
}

TEST_CASE("this machine has a total memory and an available memory that is not larger")
{
  const auto memory = machine_memory();
  CHECK(memory.total > 0);
  CHECK(memory.available > 0);
  CHECK(memory.available <= memory.total);
}
