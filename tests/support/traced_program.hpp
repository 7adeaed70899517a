// Runs a program under ptrace and stops it before each system call that changes files, so that it can be killed at a chosen one:
// the moment is a count, the same on a fast machine as on a slow or a busy one.
#pragma once

#include "core/error.hpp"

#include <cerrno>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dt::test {

struct TracedEnd {
  int changes = 0;     // system calls that change files, of all threads, up to the end
  bool killed = false; // by run(), before the call that it was given
  int status = 0;      // as waitpid() reports it
};

// A child process of this one. Its threads are traced; programs that it starts are not, so a supervisor that it leaves behind
// goes on by itself. The caller must have no other children that end meanwhile.
class TracedProgram {
 public:
  // Without input and output.
  explicit TracedProgram(const std::vector<std::string>& words) : TracedProgram([&] { execute(words); }) {}
  // Calls the function in the child, which ends when it returns.
  explicit TracedProgram(const std::function<void()>& function) : leader_(::fork())
  {
    if (leader_ < 0) throw system_error("fork", errno);
    if (leader_ == 0) be_traced(function);
    int status = 0;
    if (::waitpid(leader_, &status, 0) != leader_ || !WIFSTOPPED(status))
      throw Error(ErrorKind::environment, "this machine does not allow a process to trace its child");
    if (::ptrace(PTRACE_SETOPTIONS, leader_, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL) != 0)
      throw system_error("trace a child", errno);
  }

  // Runs it to its end, or kills it before its call number `kill_before` (counted from 1; 0: never).
  TracedEnd run(int kill_before)
  {
    TracedEnd end;
    go_on(leader_, 0);
    for (pid_t thread = 0; (thread = ::waitpid(-1, &end.status, __WALL)) > 0;) {
      if (!WIFSTOPPED(end.status)) {
        if (thread == leader_) return end;
        continue; // another thread has ended
      }
      if (!end.killed && changes_files(thread, end.status) && ++end.changes == kill_before) {
        end.killed = true;
        ::kill(leader_, SIGKILL);
      }
      go_on(thread, signal_to_deliver(end.status));
    }
    throw system_error("wait for a traced child", errno);
  }

 private:
  [[noreturn]] static void be_traced(const std::function<void()>& function)
  {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(126);
    ::raise(SIGSTOP); // until the parent has set what it wants to see
    function();
    ::_exit(0);
  }

  static void execute(const std::vector<std::string>& words)
  {
    const int null = ::open("/dev/null", O_RDWR);
    for (const int stream : {0, 1, 2}) ::dup2(null, stream);
    std::vector<char*> argv;
    for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }

  // At the entry of one of the calls. A write to a pipe counts too, though it changes no file.
  static bool changes_files(pid_t thread, int status)
  {
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) return false;
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
    const auto number = static_cast<long>(info.entry.nr);
    if (number == SYS_openat) return (info.entry.args[2] & O_CREAT) != 0;
    for (const long one : {SYS_write, SYS_pwrite64, SYS_ftruncate, SYS_fsync, SYS_fdatasync, SYS_renameat, SYS_renameat2,
                           SYS_mkdirat, SYS_unlinkat, SYS_linkat, SYS_symlinkat, SYS_execve
#ifdef SYS_rename // older calls that some processors do not have
                           ,
                           SYS_rename, SYS_mkdir, SYS_unlink, SYS_link, SYS_symlink, SYS_rmdir
#endif
         })
      if (number == one) return true;
    return false;
  }

  // Stops that tracing itself causes deliver nothing; SIGSTOP is how a new thread reports.
  static int signal_to_deliver(int status)
  {
    const int signal = WSTOPSIG(status);
    const bool is_tracing = signal == (SIGTRAP | 0x80) || signal == SIGTRAP || signal == SIGSTOP;
    return is_tracing ? 0 : signal;
  }

  // A thread that was killed meanwhile cannot go on, and need not: the error is of no interest.
  static void go_on(pid_t thread, int signal) { ::ptrace(PTRACE_SYSCALL, thread, nullptr, signal); }

  pid_t leader_;
};

} // namespace dt::test
