// Determines the state of a run from its files, and then from the scheduler. A run without a result never counts as succeeded.
#pragma once

#include "core/home/locked_home.hpp"
#include "core/record/attempt/attempt_record.hpp"
#include "jobs/scheduler/scheduler.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs {

// All evidence about one attempt at one moment: the records in its folder, and these. The judge looks at `has_result` and
// `divergence` and not at the figures of a result.
struct Evidence : AttemptRecord {
  std::string standard_error;  // its last lines, for the cause
  std::string standard_output; // its last lines too: hydra reports a failed rank there
  bool is_own_program = false; // known of preempted attempts only
  JobStatus job;
  std::string job_log{}; // of an attempt that ended in a batch: the last lines of the batch's log, for the cause
};

struct Verdict {
  RunState state = RunState::unknown;
  std::string cause;    // one sentence for the user; empty if all is well
  std::string evidence; // the sources of the verdict: "result.json", "end: exit 137; error.json: rank 1"
  std::optional<int> exit_code;
  bool stalled = false;     // running, but the heartbeat is old or the ranks wait for a missing rank
  std::string cause_kind{}; // of a run that failed or was held back: a name of namespace cause_kind; else empty
  std::string rule{};       // the rows of the judge's tables that decided: "an end: its own time limit"
};

// A job that its scheduler does not know counts as lost this many seconds after its submission or its begin.
inline constexpr double lost_grace_s = 60;
// A running job whose last heartbeat is older than this counts as stalled.
inline constexpr double stall_after_s = 60;

// Pure function: equal evidence gives an equal verdict. The run's files come first, then the scheduler; after a grace period the
// state is `lost`.
//
// A complete result means success, whatever the exit code: the ranks write it once, synced, when all agree that the work is
// complete. The cause then mentions errors that came after the result. Without a result there is no success, not even with exit
// code 0.
Verdict judge(const Evidence& evidence, double now_unix_s);

// The rows by which judge() goes: its table of evidence, then that of ends without a result. In each, the first row that applies
// decides.
std::vector<std::string_view> judged_evidence();

// Why an attempt failed that made no step. Nothing if it made one, has not ended, or was stopped or cancelled.
std::optional<std::string> cause_before_first_step(const Evidence& evidence);

// Reads what the judge needs to know of the attempt. `known` has what the reader has read so far: at least the submission.
Evidence evidence_of(AttemptReader& reader, const AttemptRecord& known, const JobStatus& job);

// The current state of a run.
struct RunStatus {
  std::string key;
  int attempt = 0;        // the attempt that the verdict is about; 0: none yet
  int newest_attempt = 0; // differs from `attempt` if the newest attempt was cancelled and an earlier one has a result
  int attempts = 0;
  Verdict verdict;
  std::optional<Submission> submission;
  std::optional<BeginRecord> begin;
  std::optional<Heartbeat> heartbeat;
  JobStatus job;                        // the scheduler's answer, if it was asked
  std::optional<Preemption> preemption; // the run stopped early in an orderly way; names its checkpoint
  int launches = 0;         // number of launches of the ranks that have ended; more than 1: a launch died before its first step
  bool is_deferred = false; // planned; is submitted when its scheduler accepts more jobs (jobs/submit/deferred.hpp)
  bool asks_again_to_end = false; // its cancellation has not reached its cluster; reconcile sends it again
  bool unreadable = false;        // the run's files cannot be read; the state is `unknown` and the cause says why
};

// Reports on the latest attempt of each run. If the latest attempt was forced and then cancelled, an earlier attempt with a
// result counts instead. Asks each scheduler once. Restarts the supervisor of the local queue if it was killed. Stores what a
// scheduler reports about a job's end in stop_reason, because the scheduler forgets it some day.
//
// If a scheduler cannot be reached, throws a scheduler error. With `troubles`, the message is appended there instead, and the
// runs that only this scheduler knows about are `unknown`. Runs whose files cannot be read are `unknown` in every case.
std::vector<RunStatus> reconcile(const Home& home, std::span<const std::string> keys,
                                 std::vector<std::string>* troubles = nullptr);

// Asks for the end of each run's live attempt; finished runs are not changed. Returns the number of runs asked. If the files of a
// run cannot be read, throws an environment error after all other runs were asked. `order`: who does it; its time is not used.
std::size_t cancel_runs(const LockedHome& home, std::span<const std::string> keys, Cancellation order);

} // namespace dt::jobs
