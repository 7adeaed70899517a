// The table of schedulers: one row per scheduler, with what recipes, checks and jobs need to know about it.
// jobs/scheduler/scheduler.hpp is the interface to the schedulers themselves.
#pragma once

#include "core/spec/names.hpp"

#include <span>
#include <string_view>

namespace dt {

struct SchedulerRow {
  Name name;
  // It may start a job again, whatever the ranks' exit code was. So the end in a run's files is final only when the scheduler no
  // longer holds the job, and resources.requeue counts.
  bool restarts_jobs = false;
  bool shares_allocations = false;    // it runs all sizes of a study in one allocation (study.layout: ladder)
  bool takes_arguments = false;       // resources.scheduler_args are options of its submit command
  bool signals_launcher = false;      // it sends its warning to every process of the job, not only to the ranks
  bool serves_other_users = false;    // it is asked less often
  bool uses_this_machine = false;     // its jobs need cores of this machine, so requests can be refused before they are submitted
  bool starts_ranks_on_hosts = false; // mpirun starts the ranks on resources.hosts
  bool keeps_queue_here = false; // its queue is files in this home; after a power cut they must not name attempts that were lost
};

// All rows, in the order of the reference.
std::span<const SchedulerRow> scheduler_rows();
// The row of a scheduler. An unknown one, from a damaged or newer submission.json, has no property but restarts_jobs, so that no
// end counts as final too early.
const SchedulerRow& scheduler_row(std::string_view scheduler);

} // namespace dt
