#include "jobs/agent/attempt_state.hpp"

#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/units.hpp"
#include "jobs/agent/own_processes.hpp"

#include <csignal>

#include <fmt/format.h>

namespace dt::jobs::agent {

void take_signals(AttemptState& state)
{
  while (const auto signal = state.inbox.next()) {
    state.stop.ask(*signal, now_unix_s());
    if (state.terms.on_signal) state.terms.on_signal(*signal);
  }
}

bool await_home(AttemptState& state)
{
  return state.place.await([&] {
    state.log.note(fmt::format("{} is not there: the home was moved or removed; the job waits up to {} seconds for it",
                               state.attempt.path().string(), AttemptPlace::patience.count()));
  });
}

bool seems_there(const std::filesystem::path& path)
{
  try {
    return is_there(path);
  } catch (const Error&) {
    return false;
  }
}

void end_left_ranks(const AttemptState& state)
{
  for (const pid_t process : own_processes(state.token)) ::kill(process, SIGKILL);
}

void learn_of_preemption(AttemptState& state)
{
  if (state.stop.signal || state.stop.is_learned || !state.terms.preempted_unix_s) return;
  state.stop.is_learned = true;
  const auto since = state.terms.preempted_unix_s();
  if (!since) return;
  state.stop.ask(SIGTERM, *since);
  state.log.note("the scheduler has begun to take this job off its nodes");
}

} // namespace dt::jobs::agent
