// Runs a program under ptrace and stops it before each system call that changes files, so that it can be killed at a chosen one:
// the moment is a count, the same on a fast machine as on a slow or a busy one.
#pragma once

#include "tests/support/tracing.hpp"

namespace dt::test {

struct TracedEnd {
  int changes = 0;     // system calls that change files, of all threads, up to the end
  bool killed = false; // by run(), before the call that it was given
  int status = 0;      // as waitpid() reports it
};

// A child process of this one (tracing::start). The caller must have no other children that end meanwhile.
class TracedProgram {
 public:
  // Without input and output.
  explicit TracedProgram(const std::vector<std::string>& words) : TracedProgram([&] { tracing::execute(words); }) {}
  // Calls the function in the child, which ends when it returns.
  explicit TracedProgram(const std::function<void()>& function) : leader_(tracing::start(function)) {}

  // Runs it to its end, or kills it before its call number `kill_before` (counted from 1; 0: never).
  TracedEnd run(int kill_before)
  {
    TracedEnd end;
    tracing::go_on(leader_, 0);
    for (pid_t thread = 0; (thread = ::waitpid(-1, &end.status, __WALL)) > 0;) {
      if (!WIFSTOPPED(end.status)) {
        if (thread == leader_) return end;
        continue; // another thread has ended
      }
      const auto call = tracing::entered_call(thread, end.status);
      if (!end.killed && call && tracing::changes_files(*call) && ++end.changes == kill_before) {
        end.killed = true;
        ::kill(leader_, SIGKILL);
      }
      tracing::go_on(thread, end.status);
    }
    throw system_error("wait for a traced child", errno);
  }

 private:
  pid_t leader_;
};

} // namespace dt::test
