#include "jobs/agent/attempt_end.hpp"

#include <algorithm>
#include <array>
#include <csignal>

namespace dt::jobs::agent {
namespace {

// A crash of the ranks' own; not the effect of a signal that asked them to stop.
bool is_crash(int code)
{
  constexpr std::array crashes{SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
  return std::any_of(crashes.begin(), crashes.end(), [&](int signal) { return code == 128 + signal; });
}

} // namespace

EndKind kind_of_end(const LaunchEnd& end)
{
  if (end.result) return EndKind::has_result;
  if (end.preempted) return EndKind::stopped;
  if (was_cut_short(end)) return EndKind::stopped_unsaid;
  return end.code == 0 ? EndKind::no_result : EndKind::failed;
}

bool was_cut_short(const LaunchEnd& end)
{
  if (!end.asked || end.cancel || end.error) return false;
  if (is_crash(end.code) && !end.is_own_program) return false;
  return end.asked == SIGUSR1 || !end.stop_reason;
}

bool may_launch_again(const LaunchEnd& end, const LaunchTries& tries)
{
  if (end.code == 0 || tries.is_lost || tries.has_stepped) return false;
  if (end.cancel || end.stop_reason || end.result || end.preempted) return false;
  if (tries.has_moved) return true;
  return end.code != 126 && end.code != 127 && tries.launches < tries.allowed && !tries.all_ranks_ran && !end.error;
}

int exit_code_after(int signal) { return signal == SIGUSR1 ? to_be_tried_again : 128 + signal; }

} // namespace dt::jobs::agent
