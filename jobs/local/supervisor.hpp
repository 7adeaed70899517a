// The supervisor: a detached process that runs the local queue of one home on this host and exits when the queue is empty.
//
// Nobody has to start a daemon: a submission or a status request starts the supervisor if jobs wait and none runs
// (ensure_supervisor). It keeps no important state in memory. If it is killed, its successor reads the queue and the owners
// (queue.hpp, owner.hpp): it adopts running jobs, cleans up after jobs whose processes are gone, and cannot start a job twice.
//
// Rules: jobs start strictly in order, even if a later job would fit. A job has its cores to itself. A job that requests more
// cores than exist (resources.oversubscribe) gets all cores and therefore runs alone. The job's leader is dtjob, which keeps the
// job's time limit. It has the variables, niceness, umask and limits of the shell that submitted it, whoever started the
// supervisor: that one gives up its own (leave_surroundings). One that may not, and so could not give a job what it had, leaves
// as soon as somebody who may starts another (successor_lock); that one adopts the jobs that run. When a job is cancelled, or has
// outlived its time limit by a minute, dtjob gets SIGTERM and ends the run; then all processes of the job get SIGTERM; then
// SIGKILL.
#pragma once

#include "core/home/home.hpp"

#include <string_view>

namespace dt::jobs::local {

// The begin of the line in Queue::trouble() while the first job waits for a quiet machine, which is no trouble.
inline constexpr std::string_view waits_for_quiet = "it waits until nothing else computes on this machine (resources.when_idle)";

struct SupervisorOptions {
  double grace_s = 10;   // from the first SIGTERM to the first SIGKILL
  bool succeeds = false; // wait until the present supervisor leaves
  double tick_s = 0.1;   // interval for checking cancellations, limits and cores; the end of a job is noticed at once
};

// The hidden verb `dtctl supervise --home H`. Returns 0 when the queue is empty, or if another supervisor runs already.
int run_supervisor(const Home& home, const SupervisorOptions& options = {});

// Starts `<running program> supervise --home H`, detached from terminal and caller, if this host's queue has jobs and no
// supervisor, or one that could give jobs less than one of this process. Does nothing if the home cannot be written.
void ensure_supervisor(const Home& home);

} // namespace dt::jobs::local
