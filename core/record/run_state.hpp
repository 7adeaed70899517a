// RunState: what is known of a run. jobs::reconcile determines it from a run's files and the scheduler.
#pragma once

#include <optional>
#include <string_view>

namespace dt {

enum class RunState {
  planned,
  submitted,
  queued,
  running,
  suspended,
  succeeded,
  failed,
  cancelled,
  timed_out,
  preempted,
  lost,
  unknown
};

std::string_view name_of(RunState state);
std::optional<RunState> run_state_of(std::string_view name);
// Whether the state will not change without another submission.
bool is_final(RunState state);

} // namespace dt
