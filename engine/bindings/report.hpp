// Writes lines about the strategy into the rank's report, the file that DTCTL_REPORT names and that dtjob reads (the grammar is
// in jobs/program/reports/report_lines.hpp). A process that dtctl has not started has no report, and nothing is written.
#pragma once

#include "core/spec/run_spec.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/sync/strategy.hpp"

namespace dt::bindings {

// Steps from one meeting of all workers to the next; 0: they never meet. For strategies with a phase of their own at the start,
// that after it.
std::int64_t steps_between_meetings(const SyncSpec& sync);

// The line "sync": this rank trains under a strategy.
void report_begin(const sync::Roles& roles, std::int64_t between_meetings);

// The lines "traffic", "bucket", "staleness", "isolated", "noise", "choice" and "weights". before: traffic that does not count.
// Collective.
void report_end(sync::Strategy& strategy, sync::Replica& replica, comm::Communicator& comm, const comm::Traffic& before);

} // namespace dt::bindings
