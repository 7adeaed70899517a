// Energy, memory and GPUs of a node: NVML answered by tests/support/fake_nvml.cpp (100 W), powercap by a folder.
#include "jobs/program/energy_watch.hpp"

#include "core/machine/process.hpp"
#include "tests/jobs/playground.hpp"
#include "tests/support/fake_powercap.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <cmath>
#include <thread>

using namespace dt;
using namespace dt::jobs;
using Catch::Contains;
using dt::test::FakePowercap;

namespace {

const std::string fake_nvml = std::string(DTCTL_BINARY_DIR) + "/tests/libfake_nvml.so";

struct Counters {
  FakePowercap powercap;
  dt::jobs::testing::Variable folder{"DTCTL_POWERCAP", powercap.folder().string()}, library{"DTCTL_NVML", fake_nvml};
  Counters() { powercap.zone("intel-rapl:0", "package-0", 8'000'000, 10'000'000); }
};

void pass(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// 100 W, and what the clock of the fake and ours differ by.
void check_100_watts(const NodeEnergy& node)
{
  REQUIRE(node.gpus.size() == 2);
  for (const auto& gpu : node.gpus) CHECK(gpu.joules == Approx(100 * node.seconds).epsilon(0.2));
}

} // namespace

TEST_CASE("a node's energy is what its counters count between the first look and the last")
{
  const Counters counters;
  EnergyWatch watch;
  counters.powercap.set("intel-rapl:0", 9'500'000);
  pass(300);
  watch.finish();
  counters.powercap.set("intel-rapl:0", 500'000); // after the end
  watch.finish();
  const auto node = watch.node();
  CHECK(node.host == host_name());
  CHECK(node.machine + "\n" == read_file("/proc/sys/kernel/random/boot_id")); // namespaces of one machine share it
  CHECK(node.host_joules == Approx(1.5));
  CHECK(node.seconds >= 0.3);
  CHECK_FALSE(node.of_measured_steps);
  check_100_watts(node);
  const auto& gpu = node.gpus[1];
  CHECK(gpu.index == 1);
  CHECK(gpu.id == "GPU-fake-1");
  CHECK(gpu.name == "Fake 100");
  CHECK(gpu.is_counted);
  CHECK(gpu.busy == Approx(0.5));
  CHECK(gpu.clock_mhz == Approx(1200));
  CHECK(gpu.least_clock_mhz == 1200);
  CHECK(gpu.memory_peak_bytes == std::int64_t{2} << 30);
  CHECK(gpu.held_back == TextMap{{"its power limit", "1.0000"}});
  CHECK(gpu.activity.sm_busy == Approx(0.4));
  CHECK(gpu.activity.occupancy == Approx(0.3));
  CHECK(gpu.activity.memory_bandwidth == Approx(0.2));
  CHECK(std::isnan(gpu.activity.tensor_busy)); // this GPU does not count it
}

TEST_CASE("a part of a divided GPU is measured beside its GPU, but for the energy")
{
  const Counters counters;
  const dt::jobs::testing::Variable parts("FAKE_NVML_PARTS", "1");
  EnergyWatch watch;
  pass(300);
  watch.finish();
  const auto node = watch.node();
  REQUIRE(node.gpus.size() == 3);
  const auto& part = node.gpus[2];
  CHECK(part.index == 1);
  CHECK(part.id == "MIG-fake");
  CHECK(std::isnan(part.joules));
  CHECK(part.memory_peak_bytes == std::int64_t{2} << 30);
  CHECK(part.activity.sm_busy == Approx(0.2));
  CHECK(node.gpus[1].activity.sm_busy == Approx(0.4));
}

TEST_CASE("energy counts from the begin of the measured steps if a second or more follows")
{
  const Counters counters;
  EnergyWatch watch;
  counters.powercap.set("intel-rapl:0", 9'000'000);
  watch.begin_again();
  pass(10);
  counters.powercap.set("intel-rapl:0", 1'000'000); // wrapped
  SECTION("less than a second")
  {
    watch.finish();
    const auto node = watch.node();
    if (node.seconds < 1) CHECK(node.host_joules == Approx(3));
    CHECK_FALSE((node.seconds < 1 && node.of_measured_steps));
  }
  SECTION("more")
  {
    pass(1000);
    watch.finish();
    const auto node = watch.node();
    CHECK(node.of_measured_steps);
    CHECK(node.host_joules == Approx(2));
    check_100_watts(node);
  }
}

TEST_CASE("a GPU without an energy counter has its power integrated")
{
  const Counters counters;
  const dt::jobs::testing::Variable without("FAKE_NVML_NO_COUNTER", "1");
  EnergyWatch watch;
  pass(100);
  watch.finish();
  const auto node = watch.node();
  CHECK_FALSE(node.gpus.at(0).is_counted);
  CHECK(node.gpus[0].joules == Approx(100 * node.seconds));
}

TEST_CASE("without NVML and powercap a node says why")
{
  const dt::jobs::testing::Variable folder("DTCTL_POWERCAP", "/nowhere"), library("DTCTL_NVML", "/nowhere/libnvidia-ml.so.1");
  EnergyWatch watch;
  watch.finish();
  const auto node = watch.node();
  CHECK(std::isnan(node.host_joules));
  CHECK(node.host_why == "no processor's energy counter in /nowhere");
  CHECK(node.gpus.empty());
  CHECK(node.gpu_why == "no NVML: /nowhere/libnvidia-ml.so.1 cannot be loaded");
}

TEST_CASE("the memory of a job is that of the control group that Slurm made for it")
{
  const test::TemporaryFolder root;
  const auto put = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root.path() / path).parent_path());
    replace_file(root.path() / path, text);
  };
  CHECK_FALSE(memory_peak_of_job(root.path()));
  put("proc/self/cgroup", "0::/user.slice/session-1.scope\n");
  put("sys/fs/cgroup/user.slice/session-1.scope/memory.peak", "7\n");
  CHECK_FALSE(memory_peak_of_job(root.path()));
  put("proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0\n");
  CHECK_FALSE(memory_peak_of_job(root.path()));
  put("sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/memory.peak", "123456\n");
  CHECK(memory_peak_of_job(root.path()) == 123456);
}
