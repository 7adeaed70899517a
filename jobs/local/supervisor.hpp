// The supervisor: a detached process that runs one home's local queue on this host and leaves when it is empty.
//
// There is no daemon to start: whoever submits or looks starts it when jobs are waiting and none is there (ensure_supervisor).
// It keeps nothing in memory that matters. Killed at any point, its successor reads queue and owners (queue.hpp, owner.hpp) and
// goes on: jobs that run are adopted, jobs whose processes are gone are cleaned up, and none can be started twice.
//
// Rules: strictly in order, also when a later job would fit. A job has its cores to itself; one that asks for more than there
// are (resources.oversubscribe) gets all of them, and so runs alone. Ahead of its time limit a job's script gets SIGUSR1, so that
// the run can write a checkpoint. A job that is to end (cancelled, or over its time) gets
// SIGTERM at its script, which passes it on; then all its processes get it; then SIGKILL.
#pragma once

#include "core/paths.hpp"

namespace dt::jobs::local {

struct SupervisorOptions {
  double grace_s = 10; // from the first SIGTERM to the first SIGKILL
  double tick_s = 0.1; // between two looks at requests to end, limits and cores; an end of a job is noticed at once
};

// The hidden verb `dtctl supervise --home H`. Returns 0 when the queue is empty or another supervisor is there already.
int run_supervisor(const Home& home, const SupervisorOptions& options = {});

// Starts `<running program> supervise --home H` detached from terminal and caller, when this host's queue holds jobs and has no
// supervisor. Does nothing when the home cannot be written.
void ensure_supervisor(const Home& home);

} // namespace dt::jobs::local
