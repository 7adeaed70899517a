// Generates the script of a job. A pure function: equal input gives equal text (tests/golden/scripts).
#pragma once

#include "core/record/run_record.hpp"
#include "jobs/launcher.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace dt::jobs {

struct ScriptInput {
  PlannedRun run;
  AttemptFolder attempt;
  std::string engine;                         // path of dtengine
  std::string data_folder;                    // folder of the data set on the machine that runs the job
  std::vector<std::filesystem::path> after{}; // folders of runs that must succeed before this run starts
};

// Returns a bash script that sets the environment, runs the set-up lines, starts the ranks and writes the attempt's `end` record,
// except after SIGKILL. The script takes the attempt's folder as an optional first argument, which replaces `attempt`.
//
// On SIGUSR1 (ahead of a time limit) or SIGTERM the script sends SIGUSR1 to the launcher. If the run was cancelled or has reached
// its time limit, it sends SIGHUP instead. A run that was stopped this way ends with exit code 75 and preempted.json, which the
// script writes if the ranks ended before they could write it. If DTCTL_REQUEUE=1 is set, the script also creates the marker
// `requeue`, which asks its caller to have the job started again. It does the same if a node of the job was lost.
// A launch that dies before the first step is repeated, up to resources.launch_tries launches in all. Without a result the exit
// code is never 0.
//
// All values are quoted for the shell; only the lines of resources.setup are meant to be interpreted by it. Throws a recipe error
// if a name in resources.env is not an identifier or a value contains a NUL byte.
std::string batch_script(const ScriptInput& input, const Launcher& launcher);

} // namespace dt::jobs
