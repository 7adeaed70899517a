#include "jobs/machine/inbox.hpp"

#include "core/error.hpp"

#include <cerrno>
#include <csignal>

#include <sys/signalfd.h>
#include <unistd.h>

namespace dt::jobs {
namespace {

sigset_t job_signals()
{
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGUSR1, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

int open_inbox()
{
  auto set = job_signals();
  sigaddset(&set, SIGCHLD); // wakes up who polls the descriptor when a child has ended
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  // A parent may have ignored these signals; an ignored signal is not kept while it is blocked.
  for (const int signal : {SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
  return ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

} // namespace

void block_job_signals()
{
  const auto set = job_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void restore_job_signals()
{
  for (const int signal : {SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD, SIGXFSZ}) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

Inbox::Inbox() : descriptor_(open_inbox())
{
  if (!descriptor_.is_open()) throw system_error("open a descriptor for signals", errno);
}

std::optional<int> Inbox::next()
{
  signalfd_siginfo message{};
  while (::read(descriptor_.get(), &message, sizeof message) == static_cast<ssize_t>(sizeof message))
    if (message.ssi_signo != SIGCHLD) return static_cast<int>(message.ssi_signo);
  return std::nullopt;
}

} // namespace dt::jobs
