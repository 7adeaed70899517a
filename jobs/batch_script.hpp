// The job's script, built from values alone: the same input gives the same text (tests/golden/scripts).
#pragma once

#include "core/run_record.hpp"
#include "jobs/launcher.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace dt::jobs {

struct ScriptInput {
  PlannedRun run;
  AttemptFolder attempt;
  std::string engine;      // path of dtengine
  std::string data_folder; // where the data set is on the machine that runs the job
  std::vector<std::filesystem::path> after{}; // folders of the runs that must have succeeded before this one starts
};

// A bash script that sets the environment, runs the set-up lines, starts the ranks and leaves the attempt's `end` record,
// whatever happens short of SIGKILL. Its first argument, when there is one, is the attempt's folder in place of `attempt`.
//
// Told to stop by SIGUSR1 (ahead of a time limit) or SIGTERM, it passes SIGUSR1 to the launcher, or SIGHUP when the run was
// cancelled or is out of time. A run that then stopped ends with exit code 75 and preempted.json: the ranks' own, or the script's
// when the ranks ended before they could write one. With DTCTL_REQUEUE=1 in the environment the marker `requeue` asks whoever
// started the script to have the job started again, also when a node of the job was lost.
// A launch that dies before the first step is tried again, resources.launch_tries in all. Without a result it never ends with 0.
//
// Every value that reaches the shell is quoted; only resources.setup is shell by intent.
// A recipe error when a name in resources.env is no identifier, or when a value holds a NUL byte.
std::string batch_script(const ScriptInput& input, const Launcher& launcher);

} // namespace dt::jobs
