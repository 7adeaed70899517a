#include "core/record/run_state.hpp"

#include <algorithm>
#include <array>

namespace dt {
namespace {

constexpr std::array<std::string_view, 12> state_names{"planned", "submitted", "queued",    "running",   "suspended", "succeeded",
                                                       "failed",  "cancelled", "timed_out", "preempted", "lost",      "unknown"};

} // namespace

std::string_view name_of(RunState state) { return state_names[static_cast<std::size_t>(state)]; }

std::optional<RunState> run_state_of(std::string_view name)
{
  const auto* found = std::find(state_names.begin(), state_names.end(), name);
  if (found == state_names.end()) return std::nullopt;
  return static_cast<RunState>(found - state_names.begin());
}

bool is_final(RunState state)
{
  switch (state) {
  case RunState::succeeded:
  case RunState::failed:
  case RunState::cancelled:
  case RunState::timed_out:
  case RunState::preempted:
  case RunState::lost:
    return true;
  default:
    return false;
  }
}

} // namespace dt
