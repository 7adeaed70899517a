// The job's script, built from values alone: the same input gives the same text (tests/golden/scripts).
#pragma once

#include "core/run_record.hpp"
#include "jobs/launcher.hpp"

#include <string>

namespace dt::jobs {

struct ScriptInput {
  PlannedRun run;
  AttemptFolder attempt;
  std::string engine;      // path of dtengine
  std::string data_folder; // where the data set is on the machine that runs the job
};

// A bash script that sets the environment, runs the set-up lines, starts the ranks and leaves the attempt's `end` record,
// whatever happens short of SIGKILL. Every value that reaches the shell is quoted; only resources.setup is shell by intent.
// A recipe error when a name in resources.env is no identifier, or when a value holds a NUL byte.
std::string batch_script(const ScriptInput& input, const Launcher& launcher);

} // namespace dt::jobs
