#include "engine/train/stop_signals.hpp"

#include <csignal>
#include <ctime>

namespace dt::engine {
namespace {

sigset_t stop_signals()
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGTERM);
  return set;
}

} // namespace

void hold_stop_signals()
{
  const auto set = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int take_stop_signal()
{
  const auto set = stop_signals();
  const timespec no_wait{};
  const int signal = ::sigtimedwait(&set, nullptr, &no_wait);
  return signal > 0 ? signal : 0;
}

} // namespace dt::engine
