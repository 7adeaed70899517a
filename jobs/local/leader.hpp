// Starting one job: its leader is a child in a session of its own, bound to its cores, that becomes the job's script.
#pragma once

#include "jobs/local/cores.hpp"
#include "jobs/local/owner.hpp"
#include "jobs/local/queue.hpp"

#include <string>

namespace dt::jobs::local {

struct StartOutcome {
  enum class Kind {
    started,
    taken,  // somebody else has claimed the attempt: nothing was run
    failed, // nothing was run and nothing claimed; may be tried again
  };
  Kind kind = Kind::started;
  std::string error;
};

// Forks the leader, which claims the attempt (owner.json) and then runs job.sh with the ticket's environment, its output in
// the attempt's stdout and stderr. Returns when the script runs or cannot.
StartOutcome start_leader(const Ticket& ticket, const TakenCores& cores, const std::string& job_id);

} // namespace dt::jobs::local
