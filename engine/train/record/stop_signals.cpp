#include "engine/train/record/stop_signals.hpp"

#include <cmath>
#include <csignal>
#include <ctime>
#include <initializer_list>

namespace dt::train {
namespace {

sigset_t held_signals()
{
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGUSR1, SIGTERM, SIGUSR2}) sigaddset(&set, signal);
  return set;
}

} // namespace

void hold_signals()
{
  const auto set = held_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int wait_for_signal(double seconds)
{
  const auto set = held_signals();
  double whole = 0;
  const double fraction = std::modf(seconds, &whole);
  const timespec at_most{.tv_sec = static_cast<std::time_t>(whole), .tv_nsec = std::lround(1e9 * fraction) % 1'000'000'000};
  const int signal = ::sigtimedwait(&set, nullptr, &at_most);
  return signal > 0 ? signal : 0;
}

} // namespace dt::train
