// A process that computes on one core, for tests beside other programs.
#pragma once

#include <csignal>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace dt::test {

// Computes on one core and nothing else, until it is ended.
class BusyLoop {
 public:
  explicit BusyLoop(int core)
  {
    int begun[2];
    REQUIRE(::pipe(begun) == 0);
    pid_ = ::fork();
    if (pid_ == 0) work(core, begun[1]);
    ::close(begun[1]);
    char byte = 0;
    REQUIRE(::read(begun[0], &byte, 1) == 1); // it is on its core
    ::close(begun[0]);
  }
  BusyLoop(const BusyLoop&) = delete;
  BusyLoop& operator=(const BusyLoop&) = delete;
  ~BusyLoop()
  {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  [[noreturn]] static void work(int core, int begun)
  {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(core), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0) ::_exit(1);
    if (::write(begun, "b", 1) != 1) ::_exit(1);
    while (true) static_cast<void>(::sched_getcpu());
  }
  pid_t pid_ = -1;
};

} // namespace dt::test
