// stop_reason: why an attempt was stopped or never ran, or what its scheduler says about its end. One line, whose first words are
// the kind.
#pragma once

#include "core/record/run_state.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dt {

enum class StopKind {
  time_limit,  // "time_limit [SECONDS]": the job reaches its time limit, or is warned ahead of it
  not_started, // "not started: WHY": by the scheduler of this machine, or because the job was told to stop before the run's turn
  not_run,     // "not run: WHY": a run that had to come first has no result
  removed,     // "removed while it ran: WHAT": the attempt's folder was removed
  scheduler,   // "STATE: WORDS": the scheduler's statement about the end
  unknown,     // another line
};

struct StopReason {
  StopKind kind = StopKind::unknown;
  std::string text{};                     // what follows the kind; of `unknown` the line
  RunState state = RunState::failed;      // of `scheduler`: a final state that is not `succeeded`
  std::optional<double> new_limit_s = {}; // of `time_limit`: the limit, if it was changed in the scheduler after the submission

  // Without a line end.
  std::string line() const;
};

StopReason parse_stop_reason(std::string_view line);

} // namespace dt
