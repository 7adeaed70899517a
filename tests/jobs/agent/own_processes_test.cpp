// own_processes(): real processes with the environment that Slurm and dtjob give them.
#include "jobs/agent/own_processes.hpp"

#include "core/file.hpp"
#include "core/record/claim.hpp"
#include "core/text.hpp"
#include "tests/jobs/playground.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;
using dt::test::eventually;

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
  }
  bool is_in(const std::vector<pid_t>& processes) const { return std::ranges::count(processes, pid_) == 1; }

 private:
  pid_t pid_ = 0;
};

} // namespace

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
