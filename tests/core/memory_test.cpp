#include "core/memory.hpp"
#include "tests/core/put_file.hpp"

#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>

using namespace dt;
namespace fs = std::filesystem;

namespace {

// The files that a system shows, below a folder.
class System {
 public:
  System()
  {
    std::string name = (fs::temp_directory_path() / "dtctl-memory-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    put("proc/meminfo", "MemTotal:       4000 kB\nMemFree:         100 kB\nMemAvailable:   3000 kB\n");
  }
  ~System() { fs::remove_all(root_); }
  void put(const fs::path& path, const std::string& text) const
  {
    fs::create_directories((root_ / path).parent_path());
    test::put_file(root_ / path, text);
  }
  std::int64_t available() const { return machine_memory(root_).available; }
  std::int64_t total() const { return machine_memory(root_).total; }

 private:
  fs::path root_;
};

} // namespace

TEST_CASE("without control groups, what the machine has available is")
{
  const System system;
  CHECK(system.total() == 4000 * 1024);
  CHECK(system.available() == 3000 * 1024);
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

TEST_CASE("a limit above what the machine has does not bind")
{
  const System system;
  system.put("proc/self/cgroup", "4:memory:/\n");
  system.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  system.put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1500000\n");
  CHECK(system.available() == 3000 * 1024);
}

TEST_CASE("a full control group has next to nothing left, which is not 'unknown'")
{
  const System system;
  system.put("proc/self/cgroup", "0::/a\n");
  system.put("sys/fs/cgroup/a/memory.max", "1000\n");
  system.put("sys/fs/cgroup/a/memory.current", "1000\n");
  CHECK(system.available() == 1);
}

TEST_CASE("this machine's memory is told")
{
  const auto memory = machine_memory();
  CHECK(memory.total > 0);
  CHECK(memory.available > 0);
  CHECK(memory.available <= memory.total);
}
