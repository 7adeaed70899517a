// The private Slurm itself: what the other tests here rely on.
#include "tests/cluster/playground.hpp"

#include "core/files/file.hpp"
#include "core/text.hpp"

#include <catch2/catch.hpp>

using dt::test::Cluster;
using dt::test::eventually;
using dt::test::Words;

namespace {

// Processes whose environment names that folder.
int processes_of(const std::filesystem::path& folder)
{
  const auto found = dt::run_command(
      {"bash", "-c", "grep -laF -- \"$1\" /proc/[0-9]*/environ 2>/dev/null | wc -l", "count", folder.string()}, 20);
  return std::stoi(found.out);
}

} // namespace

TEST_CASE("a private cluster of four nodes runs a job on each, and stopped it leaves nothing behind")
{
  std::filesystem::path folder;
  {
    const Cluster cluster;
    folder = cluster.folder();
    CHECK(cluster.slurm({"sinfo", "-h", "-N", "-t", "idle", "-o", "%N"}) == "node0\nnode1\nnode2\nnode3");
    CHECK(cluster.slurm({"timeout", "15", "srun", "-K", "-N4", "-t1", "bash", "-c", "echo $SLURMD_NODENAME"}).size() ==
          4 * 6 - 1);
    cluster.slurm({"sbatch", "-N2", "-o", "/dev/null", "--wrap", "sleep 600"});
    CHECK(processes_of(folder) > 4);
  }
  CHECK_FALSE(std::filesystem::exists(folder));
  CHECK(eventually([&] { return processes_of(folder) == 0; }, 10));
  CHECK(dt::run_command({"bash", "-c", "readlink /proc/[0-9]*/fd/* 2>/dev/null | grep -F -- \"$1\"", "open", folder.string()}, 20)
            .out.empty());
  CHECK(dt::read_file("/proc/self/mountinfo").find(folder.string()) == std::string::npos);
}

TEST_CASE("a controller that was killed comes back, one that is held still answers nothing")
{
  const Cluster cluster({"--nodes", "1"});
  cluster.hurt({"stop-controller", "--kill"});
  CHECK(cluster.slurm({"scontrol", "ping"}).find("DOWN") != std::string::npos);
  cluster.hurt({"start-controller"});
  CHECK(cluster.slurm({"scontrol", "ping"}).find("UP") != std::string::npos);
  cluster.hurt({"stop-controller", "--pause"});
  CHECK(cluster.slurm({"timeout", "1", "squeue"}).empty());
  cluster.hurt({"resume-controller"});
  CHECK(cluster.slurm({"squeue", "-h", "-o", "%i"}).empty());
}
