// own_processes(): real processes with the environment that Slurm and dtjob give them.
#include "jobs/agent/own_processes.hpp"

#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/record/attempt/claim.hpp"
#include "tests/jobs/playground.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;
using dt::test::eventually;
namespace fs = std::filesystem;

namespace {

const std::string token = "own-processes-" + std::to_string(::getpid());

// A process of a job on that node: a child of this one, or without a parent that knows it, in a session of its own.
class Sleeper {
 public:
  Sleeper(const jobs::testing::Folder& folder, const std::string& node, bool is_detached)
  {
    const auto file = folder.path() / (node + (is_detached ? "-detached" : "-child"));
    const auto script = "echo $$ > \"$1.new\" && mv \"$1.new\" \"$1\" && exec sleep 1000";
    const pid_t child = ::fork();
    if (child == 0) {
      if (is_detached && (::setsid() < 0 || ::fork() != 0)) ::_exit(0);
      ::setenv(token_variable, token.c_str(), 1);
      ::setenv("SLURMD_NODENAME", node.c_str(), 1);
      ::execl("/bin/sh", "sh", "-c", script, "sh", file.c_str(), nullptr);
      ::_exit(127);
    }
    if (is_detached) ::waitpid(child, nullptr, 0);
    REQUIRE(eventually([&] { return is_there(file); }));
    pid_ = std::stoi(read_file(file));
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper()
  {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    eventually([&] { return !identify_process(pid_); });
  }
  pid_t pid() const { return pid_; }
  bool is_in(const std::vector<pid_t>& processes) const { return std::ranges::count(processes, pid_) == 1; }

 private:
  pid_t pid_ = 0;
};

// Control groups as Slurm makes them for a job on two nodes of one host.
class JobGroups {
 public:
  JobGroups()
  {
    for (const auto* root : {"/sys/fs/cgroup/pids", "/sys/fs/cgroup"}) {
      const auto top = fs::path(root) / token;
      std::error_code error;
      for (const auto* node : {"slurm_node0", "slurm_node1"}) fs::create_directories(top / node / "uid_0/job_12/step_0", error);
      if (!error && is_there(top / "slurm_node1/uid_0/job_12/step_0/cgroup.procs")) top_ = top;
      if (!top_.empty()) return;
    }
  }
  JobGroups(const JobGroups&) = delete;
  JobGroups& operator=(const JobGroups&) = delete;
  ~JobGroups()
  {
    std::error_code none;
    for (const auto* node : {"slurm_node0", "slurm_node1"})
      for (const auto* part : {"uid_0/job_12/step_0", "uid_0/job_12", "uid_0", ""}) fs::remove(top_ / node / part, none);
    fs::remove(top_, none);
  }
  bool are_there() const { return !top_.empty(); }
  // Returns false if the process may not be put there.
  bool put(pid_t process, const std::string& node) const
  {
    std::ofstream file(top_ / node / "uid_0/job_12/step_0/cgroup.procs");
    file << process << std::flush;
    return file.good();
  }

 private:
  fs::path top_;
};

} // namespace

TEST_CASE("where Slurm gives the job a control group, processes outside of it are not the job's on this node")
{
  const JobGroups groups;
  const jobs::testing::Folder folder;
  const Sleeper ours(folder, "node0", true), theirs(folder, "node1", true);
  if (!groups.are_there() || !groups.put(ours.pid(), "slurm_node0") || !groups.put(theirs.pid(), "slurm_node1")) {
    WARN("skipped: control groups cannot be made here");
    return;
  }
  const pid_t dtjob = ::fork(); // this test stays where it is
  if (dtjob == 0) {
    ::setenv("SLURMD_NODENAME", "another", 1); // the group decides
    const bool is_put = groups.put(::getpid(), "slurm_node0");
    const auto own = agent::own_processes(token);
    ::_exit(is_put && ours.is_in(own) && own.size() == 1 ? 0 : 1);
  }
  int status = -1;
  CHECK(::waitpid(dtjob, &status, 0) == dtjob);
  CHECK(status == 0);
}

TEST_CASE("a process belongs to a job on a node by its token and its node, and is left behind if it does not descend from dtjob")
{
  const jobs::testing::Folder folder;
  const jobs::testing::Variable here("SLURMD_NODENAME", "node0");
  const Sleeper child(folder, "node0", false), daemon(folder, "node0", true);
  const Sleeper neighbours_child(folder, "node1", false), neighbours_daemon(folder, "node1", true);
  const auto own = agent::own_processes(token), detached = agent::detached_processes(token);
  CHECK(child.is_in(own));
  CHECK(daemon.is_in(own));
  CHECK(own.size() == 2);
  CHECK(daemon.is_in(detached));
  CHECK(detached.size() == 1);
  CHECK(agent::own_processes(token + "0").empty());
}
