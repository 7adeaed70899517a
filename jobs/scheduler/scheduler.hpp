// Scheduler: the interface to the program that runs jobs (submit, poll, cancel). One class per scheduler, registered in
// registry/schedulers.cpp; its properties are a row of core/spec/scheduler_table.cpp.
#pragma once

#include "core/record/run_record.hpp"
#include "core/spec/run_key.hpp"
#include "core/spec/run_spec.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs {

// One attempt that is ready to be submitted. Its script and its intent (submission.json without an id) are written.
struct JobRequest {
  std::string name;  // the run's key
  std::string token; // the token of the submission
  AttemptFolder attempt;
  ResourcesSpec resources;
  std::string ladder{}; // requests with the same text share an allocation, in the order of the requests; empty: a separate job
  std::vector<std::string> after{}; // ids of this scheduler's jobs that must end before this job starts
  std::int64_t side_threads = 0;    // per rank, in addition to its compute threads (RunSpec)
  std::string title{};              // the run's name in its study, "study/label/#2", for the job's name; empty: unknown
  std::int64_t cores_per_rank() const { return resources.threads_per_rank + side_threads; }
};

// The scheduler's answer to a request: accepted (an id), refused (an error), unanswered (no reply came), or deferred (no room for
// the job now). An unanswered request may be in the queue all the same: its intent stays, and its token identifies the job.
struct SubmitOutcome {
  std::string job_id;
  std::string error;
  bool unanswered = false;
  bool deferred = false; // refused because of a limit on the user's jobs; submit it again later
  std::string caution{}; // of an accepted job: what the user should know of this site; empty: nothing
};

// Limits that the user sets for a submission.
struct SubmitRules {
  std::int64_t max_running = 0; // how many jobs of this submission may run at the same time; 0: no limit
};

// Identifies a submitted job. The id alone is not enough: schedulers can give out an id again after a crash.
struct JobHandle {
  std::string job_id;
  std::string name;
  std::string token;
  AttemptFolder attempt;
  bool has_ended = false; // its `end` exists, or it was deferred: only the queue must be searched, not the accounting
  std::string cluster{};  // to which it was submitted; empty: the scheduler has no clusters, or it is not known
};

// native_state of a job whose scheduler does not answer.
inline constexpr std::string_view unreachable_state = "unreachable";
// native_state of a job that was submitted to another cluster than the one that is asked.
inline constexpr std::string_view elsewhere_state = "elsewhere";

// Why a queued job can never start as it is, even on an empty machine, and what the user can do. Without a remedy the job can
// start.
struct Hindrance {
  std::string remedy;        // "lower resources.time_limit (partition limits: dtctl doctor)"
  bool needs_new_job = true; // the user must cancel the job, apply the remedy and submit again
};

// What the scheduler knows about a job now.
struct JobStatus {
  enum class State { not_found, queued, running, ended, unknown };
  State state = State::not_found;
  std::string native_state;     // the scheduler's own word, also if dtctl does not know it
  std::string reason;           // for the user: "waits for 2 cores; 3 jobs are before it"
  std::optional<int> exit_code; // of an ended job; 128 + n if signal n ended it
  std::string job_id;           // of a job that was found by its token; its submitter may never have seen this id
  // Set for an ended job if the scheduler reports why it ended: timed_out, preempted, …
  std::optional<RunState> outcome{};
  std::string cause{};       // the scheduler's explanation: "node2 failed (NODE_FAIL)"
  int restarts = 0;          // how often the scheduler has restarted the job
  bool is_suspended = false; // of a running job: its processes are stopped, but it keeps its nodes
  double suspended_s = 0;    // of a running job: total length of its earlier suspensions
  Hindrance hindrance{};     // of a queued job
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual std::string name() const = 0; // one of scheduler_names()
  // Name of the cluster that submit() uses now; empty if the scheduler knows no clusters. Throws a scheduler error if it is
  // unknown.
  virtual std::string cluster() { return {}; }
  // Gives a token to every request that has none, before its intent is written. Requests that will be submitted together get
  // related tokens. Throws a scheduler error if the scheduler cannot be reached; nothing is written before that.
  virtual void assign_tokens(std::span<JobRequest> requests, const SubmitRules& rules);
  // For each request, in order, why the scheduler would never start its job at this site; empty if nothing speaks against it.
  // Throws a scheduler error if the scheduler cannot be reached.
  virtual std::vector<std::string> misfits(std::span<const JobRequest> requests);
  // Returns one outcome per request, in order. Throws (scheduler or environment error) only if nothing can be submitted at all.
  virtual std::vector<SubmitOutcome> submit(std::span<const JobRequest> requests, const SubmitRules& rules) = 0;
  // Returns one status per job, in order. Asks the scheduler at most twice, independent of the number of jobs. Throws a scheduler
  // error if it cannot be reached.
  virtual std::vector<JobStatus> poll(std::span<const JobHandle> jobs) = 0;
  // Asks the scheduler to end the jobs, and returns at once. Jobs that have ended are not changed.
  virtual void cancel(std::span<const JobHandle> jobs) = 0;
};

// The request for a run, without `after` and `title`. `study` is the id of the study that requests it.
JobRequest request_for(const PlannedRun& run, const AttemptFolder& attempt, const std::string& token, const std::string& study);

// "it was submitted to the cluster A, and this is B". Empty if the job is of this cluster, or if its cluster is not known.
std::string elsewhere_words(const std::string& of_job, const std::string& here);

// Returns 32 random hexadecimal digits.
std::string random_token();

} // namespace dt::jobs
