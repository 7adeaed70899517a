// The script that Slurm runs for a batch of runs: it finds its run or runs in the batch's `tasks`, claims each attempt and
// runs its job.sh. A pure function of its input (tests/golden/scripts/dispatch*.sh).
//
// Batch folder:
//   tasks  { index SP token SP nodes SP time_limit_s SP attempt-folder LF }     a line a run; the folder is absolute
//   log, log-<array task>                                                       what this script says for itself
//
// It starts an attempt at most once, whatever Slurm does:
//   - owner.json is created exclusively (hard link); a second job for the same attempt finds it and does nothing.
//   - A job that Slurm has started again (same job id, greater SLURM_RESTART_COUNT than the owner's) makes the next attempt:
//     it fences the earlier one (result.json with "fenced_by", created exclusively) and renames a folder that holds job.sh,
//     submission.json and owner.json into place. Who finds a result stops there; who finds the next attempt made by somebody
//     else stops, too.
// Exit code: job.sh's; of a ladder, the first that is not 0. 0 when there was nothing left to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace dt::jobs::slurm {

struct DispatchInput {
  std::filesystem::path batch_folder; // absolute; its name is the batch's id
  bool ladder = false;                // all runs of `tasks` in order, each on the first of the job's nodes
  std::int64_t requeue = 0;           // times that the job may ask Slurm to start it again
  std::int64_t signal_ahead_s = 0;    // so long before a ladder run's own time limit it is told to stop; 0: not told
};

std::string dispatch_script(const DispatchInput& input);

} // namespace dt::jobs::slurm
