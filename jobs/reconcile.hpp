// What became of a run: the run's own files first, then the scheduler, and never success without a result.
#pragma once

#include "core/paths.hpp"
#include "core/rank_state.hpp"
#include "core/run_record.hpp"
#include "jobs/scheduler.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::jobs {

// All evidence about one attempt at one moment.
struct Evidence {
  std::optional<Submission> submission;
  std::optional<BeginRecord> begin;
  std::optional<Heartbeat> heartbeat;
  std::optional<RankError> error;
  std::optional<JobEnd> end;
  bool has_result = false; // a whole result.json
  bool cancel_requested = false;
  std::string cancelled_by; // who asked for it
  std::string stop_reason;  // the scheduler's note: "time_limit", "not started: why", or its outcome: "preempted: cause"
  std::optional<Preemption> preemption;
  std::optional<Deferral> deferral; // its scheduler had no room for it
  std::optional<StallRecord> stall; // the last that the ranks told, when it has not resolved
  bool requeue_asked = false; // the job's script has asked the scheduler to start the job again
  int launches = 0;           // of the ranks that have ended
  std::string last_words;   // last lines of stderr, for the cause
  JobStatus job;
};

struct Verdict {
  RunState state = RunState::unknown;
  std::string cause;    // one sentence for people; empty for a healthy state
  std::string evidence; // what was looked at: "result.json", "end: exit 137; error.json: rank 1"
  std::optional<int> exit_code;
  bool stalled = false; // running, but the heartbeat is old or the ranks wait for one that does not come
};

// How long a job may be unknown to its scheduler and silent before it counts as lost, and how old a heartbeat makes a stall.
inline constexpr double lost_grace_s = 60;
inline constexpr double stall_after_s = 60;

// Pure: the same evidence gives the same verdict. Order: the run's files, then the scheduler, then `lost` after a grace period.
//
// A whole result is success whatever the exit code: it is written once, synced, when all ranks agree that the work is done. What
// went wrong after it is told in the cause. Without one nothing is success, not even exit code 0.
Verdict judge(const Evidence& evidence, double now_unix_s);

// A run as it stands now.
struct RunStatus {
  std::string key;
  int attempt = 0; // the one that the verdict is about; 0: none yet
  int newest_attempt = 0; // another one than `attempt` when the newest was cancelled and an earlier one has a result
  int attempts = 0;
  Verdict verdict;
  std::optional<Submission> submission;
  std::optional<BeginRecord> begin;
  std::optional<Heartbeat> heartbeat;
  JobStatus job; // what the scheduler says of it, where it was asked
  std::optional<Preemption> preemption; // stopped in order before its end, and where it can go on
  int launches = 0;                     // of the ranks that have ended; more than one: some died before the first step
  bool is_deferred = false;             // planned, and to be handed over when its scheduler has room (jobs/deferred.hpp)
  bool unreadable = false;              // its files cannot be read: the state is `unknown`, and the cause says why
};

// The latest attempt of each run (an earlier one with a result when the latest, made by force, was cancelled), one question to each scheduler involved. Also sees to it that queued local jobs go on when
// their supervisor was killed, and keeps what a scheduler says of a job's end (stop_reason), which it forgets one day.
//
// A scheduler that cannot be reached is a scheduler error; with `troubles` its words go there instead, and the runs it alone
// could tell about are `unknown`. So is a run whose files cannot be read, whatever its scheduler says.
std::vector<RunStatus> reconcile(const Home& home, std::span<const std::string> keys, std::vector<std::string>* troubles = nullptr);

// Asks that each run's live attempt end; leaves finished ones alone. Number of runs asked. An environment error, after all others
// were asked, when a run's files cannot be read.
std::size_t cancel_runs(const Home& home, std::span<const std::string> keys, const std::string& who);

} // namespace dt::jobs
