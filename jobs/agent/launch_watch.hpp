// One execution of an attempt's script, from its start to the end of the ranks: passes signals on, keeps the limits, and looks at
// what the ranks do.
#pragma once

#include "jobs/agent/attempt_state.hpp"

namespace dt::jobs::agent {

struct LaunchOutcome {
  int code;          // of the script or of the launcher, 128 + n after signal n
  bool has_launched; // the script became the launcher
};

LaunchOutcome run_script(AttemptState& state);

} // namespace dt::jobs::agent
