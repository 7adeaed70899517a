// The job's script, built from values alone: the same input gives the same text (tests/golden/scripts).
#pragma once

#include "core/run_record.hpp"
#include "jobs/launcher.hpp"

#include <string>

namespace dt::jobs {

struct ScriptInput {
  PlannedRun run;
  AttemptFolder attempt;
  std::string engine; // path of dtengine
};

// A bash script that sets the environment, runs the set-up lines, starts the ranks and leaves the attempt's `end` record,
// whatever happens. Every value that reaches the shell is quoted; only resources.setup is shell by intent.
std::string batch_script(const ScriptInput& input, const Launcher& launcher);

} // namespace dt::jobs
