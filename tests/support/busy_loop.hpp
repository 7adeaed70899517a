// A process that computes on one core, for tests beside other programs.
#pragma once

#include <chrono>
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
  enum class Kind {
    ordinary, // shares the core with others
    bursts,   // takes the core from all ordinary processes, for half a second at a time; needs root
  };
  explicit BusyLoop(int core, Kind kind = Kind::ordinary)
  {
    int begun[2];
    REQUIRE(::pipe(begun) == 0);
    pid_ = ::fork();
    if (pid_ == 0) work(core, kind, begun[1]);
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
  [[noreturn]] static void work(int core, Kind kind, int begun)
  {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(core), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0) ::_exit(1);
    const sched_param priority{.sched_priority = 1};
    if (kind == Kind::bursts && ::sched_setscheduler(0, SCHED_FIFO, &priority) != 0) ::_exit(1);
    if (::write(begun, "b", 1) != 1) ::_exit(1);
    using Clock = std::chrono::steady_clock;
    while (true) {
      const auto end = Clock::now() + std::chrono::milliseconds(500);
      while (Clock::now() < end) static_cast<void>(::sched_getcpu());
      if (kind == Kind::bursts) ::usleep(150'000);
    }
  }
  pid_t pid_ = -1;
};

} // namespace dt::test
