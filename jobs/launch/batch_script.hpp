// Generates the script of a job. A pure function: equal input gives equal text (tests/golden/scripts).
#pragma once

#include "core/record/run_record.hpp"
#include "jobs/launch/launcher.hpp"

#include <string>
#include <string_view>

namespace dt::jobs {

// Lines of shell that define the command `module` where the shell that runs a job has not defined it.
extern const std::string_view find_modules;

struct ScriptInput {
  PlannedRun run;
  AttemptFolder attempt;
  std::string program;     // path of dtengine; of dtsim for a simulated run
  std::string data_folder; // folder of the data set on the machine that runs the job
  std::string agent;       // path of dtjob
  std::string home{};      // of dtctl, for a container
};

// Returns a bash script that sets the environment, loads modules, runs the set-up lines and then becomes the launcher of the
// ranks (`exec dtjob launch mpirun …`). It takes the attempt's folder as its argument, which replaces `attempt`. If a line fails,
// the script says which and ends with that line's exit code. All else, from claims and signals to the record of the end, is done
// by the dtjob that starts the script (jobs/agent/).
//
// All values are quoted for the shell; only the lines of resources.setup_before and resources.setup are interpreted by it. Throws
// a recipe error if a name in resources.env is not an identifier or a value contains a NUL byte.
std::string batch_script(const ScriptInput& input, const Launcher& launcher);
// The part of that script before the launch: variables, lines of resources.setup_before, modules, set-up lines. Throws like
// batch_script.
std::string preparation_script(const RunSpec& run, const Launcher& launcher);

} // namespace dt::jobs
