#include "cli/command/interrupt.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include <unistd.h>

namespace dt::cli {
namespace {

// A signal handler may only access variables of this type.
volatile std::sig_atomic_t noted_signal = 0;

constexpr std::array watched{SIGINT, SIGTERM};

void handle(void (*handler)(int))
{
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : watched) ::sigaction(signal, &action, nullptr);
}

} // namespace

Interrupt::Interrupt()
{
  noted_signal = 0;
  handle([](int signal) { noted_signal = signal; });
}

Interrupt::~Interrupt() { handle(SIG_DFL); }

int Interrupt::signal() const { return noted_signal; }

void Interrupt::sleep_s(double seconds) const
{
  if (noted_signal != 0) return;
  const auto whole = static_cast<std::time_t>(seconds);
  const timespec pause{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  ::nanosleep(&pause, nullptr);
}

void Interrupt::obey() const
{
  const int signal = noted_signal;
  handle(SIG_DFL);
  ::raise(signal);
  std::_Exit(128 + signal); // only reached if the signal is blocked
}

} // namespace dt::cli
