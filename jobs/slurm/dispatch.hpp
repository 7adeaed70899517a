// Generates the script that Slurm runs for a batch. The script finds its run or runs in the batch's `tasks`, claims each attempt
// and executes its job.sh. A pure function of its input (tests/golden/scripts/dispatch*.sh).
//
// Batch folder:
//   tasks  { index SP token SP nodes SP time_limit_s SP attempt-folder LF }     one line per run; the folder is absolute
//   log, log-<array task>                                                       messages of this script
//
// The script starts an attempt at most once:
//   - It creates owner.json exclusively (hard link). A second job for the same attempt finds the file and does nothing.
//   - If Slurm has restarted the job (same job id, SLURM_RESTART_COUNT greater than the owner's), the script makes the next
//     attempt. It fences the earlier attempt (result.json with "fenced_by", created exclusively), then renames a folder that
//     contains job.sh, submission.json and owner.json into place. It stops if it finds a result, or a next attempt that
//     somebody else made.
// The exit code is that of job.sh; for a ladder, the first that is not 0. It is 0 if there was nothing to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace dt::jobs::slurm {

struct DispatchInput {
  std::filesystem::path batch_folder; // absolute; its last component is the batch's id
  bool ladder = false;                // run all runs of `tasks` in order, each on the first of the job's nodes
  std::int64_t requeue = 0;           // how often the job may ask Slurm to start it again
  std::int64_t signal_ahead_s = 0; // how long before its own time limit a run of a ladder gets the signal to stop; 0: no signal
};

std::string dispatch_script(const DispatchInput& input);

} // namespace dt::jobs::slurm
