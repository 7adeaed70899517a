// Starts one job. Its leader is a child in its own session, bound to the job's cores, which then executes dtjob (jobs/agent/).
#pragma once

#include "core/record/attempt/claim.hpp"
#include "jobs/local/queue.hpp"
#include "jobs/machine/cores.hpp"

#include <string>

namespace dt::jobs::local {

struct StartOutcome {
  enum class Kind {
    started,
    taken,  // somebody else claimed the attempt; nothing was executed
    failed, // nothing was executed and nothing claimed; the caller may try again
  };
  Kind kind = Kind::started;
  std::string error;
};

// Forks the leader. The leader claims the attempt (owner.json) and executes `dtjob run` in the ticket's environment, with output
// to the attempt's stdout and stderr. Returns when dtjob runs or the start has failed.
StartOutcome start_leader(const Ticket& ticket, const TakenCores& cores, const std::string& job_id);

} // namespace dt::jobs::local
