// `dtjob batch`: what a job of a cluster's scheduler does. It finds its run or runs in the batch's `tasks`
// (jobs/scheduler/batch.hpp), claims each attempt and runs it (attempt_job.hpp).
#pragma once

#include "jobs/machine/inbox.hpp"

#include <cstdint>
#include <filesystem>

namespace dt::jobs::agent {

struct BatchTerms {
  std::filesystem::path folder;    // absolute; its last component is the batch's id
  bool is_ladder = false;          // run all runs of `tasks` in order, each on the first of the job's nodes
  std::int64_t requeue = 0;        // how often the job may ask its scheduler to start it again
  std::int64_t signal_ahead_s = 0; // how long before its time limit a run is asked to stop; 0: it is not
};

// Returns the exit code of the run; for a ladder the first that is not 0; 0 if there was nothing to do. Files of the submission
// that are not on this node after half a minute are an environment error (74). Throws one if the batch cannot be read or an
// attempt cannot be claimed.
int run_batch(const BatchTerms& terms, Inbox& inbox);

} // namespace dt::jobs::agent
