#include "engine/train/stop_signals.hpp"

#include <cmath>
#include <csignal>
#include <ctime>
#include <initializer_list>

namespace dt::engine {
namespace {

sigset_t set_of(std::initializer_list<int> signals)
{
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

} // namespace

void hold_signals()
{
  const auto set = set_of({SIGUSR1, SIGTERM, SIGUSR2});
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int take_stop_signal()
{
  const auto set = set_of({SIGUSR1, SIGTERM});
  const timespec no_wait{};
  const int signal = ::sigtimedwait(&set, nullptr, &no_wait);
  return signal > 0 ? signal : 0;
}

int wait_for_question(double seconds)
{
  const auto set = set_of({SIGUSR2});
  double whole = 0;
  const double fraction = std::modf(seconds, &whole);
  const timespec at_most{.tv_sec = static_cast<std::time_t>(whole), .tv_nsec = std::lround(1e9 * fraction) % 1'000'000'000};
  const int signal = ::sigtimedwait(&set, nullptr, &at_most);
  return signal > 0 ? signal : 0;
}

} // namespace dt::engine
