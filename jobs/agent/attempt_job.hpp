// Runs one attempt that this process owns (core/record/attempt/claim.hpp), from its predecessors' results to its `end` record.
//
//   check the predecessors → job.sh: prepare, launch → the ranks → launch again, or: result, preempted, failed → end
//
// Signals. SIGUSR1 (ahead of a time limit) and SIGTERM ask the run to write a checkpoint and stop: the launcher gets SIGUSR1 and
// passes it to the ranks. If the run was cancelled or has reached its time limit, the launcher gets SIGHUP instead, which makes
// mpirun and srun kill their ranks. A run that stopped on request ends with exit code 75 and preempted.json, which this function
// writes if the ranks ended before they could; a signal during the preparation ends the script in the same way.
//
// Launches. A launch that dies before the first step, with no word of its own and by nobody's wish, is repeated (with job.sh, so
// also with its set-up lines) up to Submission::launch_tries launches in all. Without a result the exit code is never 0.
#pragma once

#include "core/record/run_record.hpp"
#include "jobs/machine/inbox.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::jobs::agent {

struct JobTerms {
  std::map<std::string, std::string> environment{}; // for job.sh, in addition to this process's own
  std::int64_t time_limit_s = 0;                    // from the start of this function; 0: the scheduler enforces its own limit
  std::int64_t signal_ahead_s = 0;                  // how long before time_limit_s the run is asked to stop; 0: not
  bool may_requeue = false; // a run that was stopped, or lost a node, asks to be started again (AttemptFolder::requeue)
  std::function<void(int signal)> on_signal{}; // called for each signal before it is passed on
  // When the scheduler began to take this job off its nodes; nothing if it has not. Asked when the ranks have ended without a
  // result.
  std::function<std::optional<double>()> preempted_unix_s{};
  // Called when this attempt's failure has held back others, which are cancelled (jobs/follow/hold_back.hpp).
  std::function<void(const std::vector<AttemptFolder>& held)> on_held_back{};
};

// Returns the exit code that it recorded in the attempt's `end`. Messages go to the attempt's stderr. Does not throw.
int run_attempt(const AttemptFolder& attempt, const JobTerms& terms, Inbox& inbox);

} // namespace dt::jobs::agent
