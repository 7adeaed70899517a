#include "jobs/agent/rank_processes.hpp"

#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"
#include "jobs/launch/launcher.hpp"
#include "jobs/machine/inbox.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dt::jobs::agent {
namespace {

constexpr int cannot_start = 126, no_such_program = 127;
constexpr std::time_t grace_s = 5; // from SIGTERM to SIGKILL

sigset_t awaited_signals()
{
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGUSR1, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

// Only rank 0 reads the standard input of the job.
void close_input()
{
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing > STDIN_FILENO) ::dup2(nothing, STDIN_FILENO), ::close(nothing);
}

[[noreturn]] void become_rank(int rank, pid_t parent, std::vector<std::string> words)
{
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(cannot_start); // it ended before the line above
  restore_job_signals();
  if (rank > 0) close_input();
  ::setenv(OwnLauncher::rank_variable, std::to_string(rank).c_str(), 1);
  std::vector<char*> list;
  for (auto& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  ::execvp(list[0], list.data());
  ::_exit(errno == ENOENT ? no_such_program : cannot_start);
}

class Ranks {
 public:
  ~Ranks() { signal_all(SIGKILL); }

  void start(int count, const std::vector<std::string>& words)
  {
    const auto self = ::getpid();
    for (int rank = 0; rank < count; ++rank) {
      const auto child = ::fork();
      if (child < 0) throw system_error(fmt::format("fork rank {}", rank), errno);
      if (child == 0) become_rank(rank, self, words);
      running_.push_back({rank, child});
    }
  }

  bool any() const { return !running_.empty(); }
  void signal_all(int signal) const
  {
    for (const auto& one : running_) ::kill(one.pid, signal);
  }

  // Removes the ranks that have ended. Reports the first one that failed, and asks the others to end.
  void collect()
  {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = std::ranges::find(running_, pid, &Running::pid);
      if (found == running_.end()) continue; // a grandchild that this process has inherited
      const int rank = found->rank;
      running_.erase(found);
      if (status != 0 && exit_code_ == 0) fail(rank, status);
    }
  }

  void end(int exit_code)
  {
    if (exit_code_ == 0) exit_code_ = exit_code;
    if (!kill_at_) kill_at_ = std::time(nullptr) + grace_s;
    signal_all(SIGTERM);
  }

  void kill_late_ones() const
  {
    if (kill_at_ && std::time(nullptr) >= *kill_at_) signal_all(SIGKILL);
  }

  int exit_code() const { return exit_code_; }

 private:
  struct Running {
    int rank;
    pid_t pid;
  };

  // rank_failure reads this line.
  void fail(int rank, int status)
  {
    const bool has_signal = WIFSIGNALED(status);
    fmt::print(stderr, "dtjob: rank {} on {} ended with {} {}\n", rank, host_name(), has_signal ? "signal" : "exit code",
               has_signal ? WTERMSIG(status) : WEXITSTATUS(status));
    end(has_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  }

  std::vector<Running> running_;
  std::optional<std::time_t> kill_at_;
  int exit_code_ = 0;
};

} // namespace

int run_ranks(int count, const std::vector<std::string>& words)
{
  const auto awaited = awaited_signals();
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  Ranks ranks;
  ranks.start(count, words);
  while (ranks.any()) {
    const timespec second{1, 0};
    const int signal = ::sigtimedwait(&awaited, nullptr, &second);
    if (signal == SIGUSR1) ranks.signal_all(SIGUSR1);
    if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP) ranks.end(128 + signal);
    ranks.collect();
    ranks.kill_late_ones();
  }
  return ranks.exit_code();
}

} // namespace dt::jobs::agent
