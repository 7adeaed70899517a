#include "engine/train/stop_signals.hpp"

#include <atomic>
#include <csignal>

namespace dt::engine {
namespace {

// A handler has nothing but the program's own memory to leave word in.
std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not wait for a lock");

void note(int signal) { noted.store(signal, std::memory_order_relaxed); }

} // namespace

void catch_stop_signals()
{
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART; // no system call of MPI or of a file is to fail because of it
  sigemptyset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int stop_signal() { return noted.load(std::memory_order_relaxed); }

} // namespace dt::engine
