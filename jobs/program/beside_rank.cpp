#include "jobs/program/beside_rank.hpp"

#include "core/machine/process.hpp"
#include "core/record/attempt/claim.hpp"

#include <chrono>
#include <exception>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dt::jobs {

double monotonic_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
namespace {

// Gives up the rank's terminal, session and open files, so that nobody waits for this process.
void leave_the_rank()
{
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR);
  for (const int descriptor : {0, 1, 2}) ::dup2(null, descriptor);
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
}

} // namespace

ProcessEnd::ProcessEnd(pid_t process)
    : process_(process),
      descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))) // glibc 2.36's declaration does not link from C++
{
}

bool ProcessEnd::is_still_running(double patience_s) const
{
  pollfd source{descriptor_, POLLIN, 0};
  ::poll(&source, descriptor_ >= 0 ? 1 : 0, static_cast<int>(patience_s * 1000));
  return identify_process(process_).has_value();
}

void start_beside_rank(const AttemptFolder& attempt, const std::function<void(pid_t rank)>& work)
{
  const auto owner = read_owner(attempt);
  if (!owner || owner->host == host_name()) return;
  const pid_t process = ::getpid();
  const pid_t child = ::fork();
  if (child > 0) ::waitpid(child, nullptr, 0);
  if (child != 0) return; // without a process, this host is not watched, and dtjob says so
  if (::fork() != 0) ::_exit(0);
  leave_the_rank();
  try {
    work(process);
  } catch (const std::exception&) {
  }
  ::_exit(0);
}

} // namespace dt::jobs
