// System calls of traced children (ptrace): how a test stops a program at a moment that is a count and not a time.
#pragma once

#include "core/error.hpp"

#include <cerrno>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dt::test::tracing {

// Becomes the program, without input. What it prints goes to the end of the file `output`.
[[noreturn]] inline void execute(const std::vector<std::string>& words, const std::string& output = "/dev/null")
{
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  for (const int stream : {1, 2}) ::dup2(out, stream);
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

enum class Followed { threads, processes };

// A child that stands still before it calls the function, and ends when the function returns. Its threads are traced. Programs
// that it starts are traced with Followed::processes only; otherwise a supervisor that it leaves behind goes on by itself.
inline pid_t start(const std::function<void()>& function, Followed followed = Followed::threads)
{
  const pid_t child = ::fork();
  if (child < 0) throw system_error("fork", errno);
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(126);
    ::raise(SIGSTOP); // until the parent has set what it wants to see
    function();
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
    throw Error(ErrorKind::environment, "this machine does not allow a process to trace its child");
  const long processes = followed == Followed::processes ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK : 0;
  if (::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL | processes) !=
      0)
    throw system_error("trace a child", errno);
  return child;
}

// The system call at whose entry the thread stands, by this status of waitpid(). Nothing at another stop.
inline std::optional<__ptrace_syscall_info> entered_call(pid_t thread, int status)
{
  if (WSTOPSIG(status) != (SIGTRAP | 0x80)) return std::nullopt;
  __ptrace_syscall_info info{};
  if (::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY)
    return std::nullopt;
  return info;
}

// The process that the thread has started, by this status of waitpid(). Nothing at another stop.
inline std::optional<pid_t> started_process(pid_t thread, int status)
{
  const int event = status >> 16;
  unsigned long process = 0;
  if (event != PTRACE_EVENT_FORK && event != PTRACE_EVENT_VFORK) return std::nullopt;
  if (::ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &process) != 0) return std::nullopt;
  return static_cast<pid_t>(process);
}

inline bool is_one_of(const __ptrace_syscall_info& call, std::initializer_list<long> numbers)
{
  for (const long number : numbers)
    if (static_cast<long>(call.entry.nr) == number) return true;
  return false;
}

// Calls that make, rename or remove a file or folder, or start a program.
inline bool changes_names(const __ptrace_syscall_info& call)
{
  if (is_one_of(call, {SYS_openat})) return (call.entry.args[2] & O_CREAT) != 0;
  return is_one_of(call, {SYS_renameat, SYS_renameat2, SYS_mkdirat, SYS_unlinkat, SYS_linkat, SYS_symlinkat, SYS_execve
#ifdef SYS_rename // older calls that some processors do not have
                          ,
                          SYS_rename, SYS_mkdir, SYS_unlink, SYS_link, SYS_symlink, SYS_rmdir
#endif
                         });
}

// Those, and calls that change a file's content. A write to a pipe counts too, though it changes no file.
inline bool changes_files(const __ptrace_syscall_info& call)
{
  return changes_names(call) || is_one_of(call, {SYS_write, SYS_pwrite64, SYS_ftruncate, SYS_fsync, SYS_fdatasync});
}

// Those, and calls that look up a name: whether there is a file, what it is, or what it holds.
inline bool uses_names(const __ptrace_syscall_info& call)
{
  return changes_names(call) || is_one_of(call, {SYS_openat, SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat
#ifdef SYS_rename
                                                 ,
                                                 SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink
#endif
                                                });
}

// The first path among the arguments of a call that uses names of files, as the thread has written it.
inline std::string path_of(pid_t thread, const __ptrace_syscall_info& call)
{
  bool is_first = false; // else the first argument is a folder's descriptor
#ifdef SYS_rename
  is_first = is_one_of(call, {SYS_rename, SYS_mkdir, SYS_unlink, SYS_link, SYS_symlink, SYS_rmdir, SYS_execve, SYS_open, SYS_stat,
                              SYS_lstat, SYS_access, SYS_readlink});
#else
  is_first = is_one_of(call, {SYS_execve});
#endif
  std::string text(4096, '\0');
  iovec here{text.data(), text.size()}, there{reinterpret_cast<void*>(call.entry.args[is_first ? 0 : 1]), text.size()};
  const auto got = ::process_vm_readv(thread, &here, 1, &there, 1, 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text.substr(0, text.find('\0'));
}

// Locks a file, and waits for whoever has locked it.
inline bool waits_for_lock(const __ptrace_syscall_info& call)
{
  return is_one_of(call, {SYS_flock}) && (call.entry.args[1] & LOCK_EX) != 0 && (call.entry.args[1] & LOCK_NB) == 0;
}

// Lets a thread go on after a stop. What tracing itself causes is not delivered; SIGSTOP is how a new thread reports. A thread
// that was killed meanwhile cannot go on, and need not: the error is of no interest.
inline void go_on(pid_t thread, int status)
{
  const int signal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
  const bool is_tracing = signal == (SIGTRAP | 0x80) || signal == SIGTRAP || signal == SIGSTOP;
  ::ptrace(PTRACE_SYSCALL, thread, nullptr, is_tracing ? 0 : signal);
}

} // namespace dt::test::tracing
