// Scheduler: who runs jobs. Submit, poll many at once, cancel; one class a scheduler, registered in make_scheduler.
#pragma once

#include "core/paths.hpp"
#include "core/run_record.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs {

// One attempt at a run, ready to be started: its script is written, its intent (submission.json without an id) is too.
struct JobRequest {
  std::string name;  // the run's key
  std::string token; // of the submission
  AttemptFolder attempt;
  ResourcesSpec resources;
  std::string ladder{};           // runs of the same one share an allocation, in the order of the requests; empty: a job of its own
  std::vector<std::string> after{}; // ids of this scheduler's jobs that must have ended before it starts
  std::int64_t progress_threads = 0; // of a rank, beside its compute threads (RunSpec)
  std::int64_t cores_per_rank() const { return resources.threads_per_rank + progress_threads; }
};

// What the scheduler answered: an id; or a refusal in words; or, unanswered, words about an answer that never came; or, deferred,
// why it has no room for the job now. An unanswered request may be in the queue all the same: its intent stays, and its token
// finds it.
struct SubmitOutcome {
  std::string job_id;
  std::string error;
  bool unanswered = false;
  bool deferred = false; // refused because the queue holds as many of the user's jobs as it may: to be handed over again later
};

// How the user wants a submission to be spread.
struct SubmitRules {
  std::int64_t max_running = 0; // most jobs of this submission that run at the same time; 0: as many as the scheduler starts
};

// A job submitted before. Id, name and token together: ids alone are given out again after a crash.
struct JobHandle {
  std::string job_id;
  std::string name;
  std::string token;
  AttemptFolder attempt;
  bool has_ended =
      false; // its `end` is there, or there was no room for it: only whether it is in the queue is asked, not its past
};

// The native state of jobs whose scheduler does not answer.
inline constexpr std::string_view unreachable_state = "unreachable";

// Why a queued job cannot start as it is, however empty the machine gets, and what its user can do. No remedy: it can start.
struct Hindrance {
  std::string remedy;        // "lower resources.time_limit (partition limits: dtctl doctor)"
  bool needs_new_job = true; // the job has to be cancelled and its recipe submitted again, with the remedy
};

// What the scheduler knows about a job now.
struct JobStatus {
  enum class State { not_found, queued, running, ended, unknown };
  State state = State::not_found;
  std::string native_state;     // in the scheduler's own word, kept even when we do not know it
  std::string reason;           // in words: "waits for 2 cores; 3 jobs are before it"
  std::optional<int> exit_code; // of an ended job; 128 + n when signal n ended it
  std::string job_id;           // of a job that is known by its token: the answer its submitter may never have seen
  std::optional<RunState> outcome{}; // of an ended job, when the scheduler knows better than an exit code: timed_out, preempted, …
  std::string cause{};             // its words for that: "node2 failed (NODE_FAIL)"
  int restarts = 0;                // how often the scheduler has started it again
  bool is_suspended = false;       // of a running job: its processes are stopped, its nodes are kept
  double suspended_s = 0;          // of a running job: how long its earlier suspensions lasted together
  Hindrance hindrance{};           // of a queued job
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual std::string name() const = 0;
  // Whether its queue is files of this home, which a power cut must not leave ahead of the attempts they name.
  virtual bool keeps_queue_here() const { return false; }
  // Gives every request that has none a token, before its intent is written. Requests that a scheduler is going to submit
  // together get related ones. A scheduler error when it cannot be reached: then nothing was written yet.
  virtual void assign_tokens(std::span<JobRequest> requests, const SubmitRules& rules);
  // One outcome a request, in order. Throws only when nothing can be submitted at all (scheduler or environment error).
  virtual std::vector<SubmitOutcome> submit(std::span<const JobRequest> requests, const SubmitRules& rules) = 0;
  // One status a job, in order, in at most two questions to the scheduler however many they are. A scheduler error when it
  // cannot be reached.
  virtual std::vector<JobStatus> poll(std::span<const JobHandle> jobs) = 0;
  // Asks for an end and returns at once; jobs that ended already are left alone.
  virtual void cancel(std::span<const JobHandle> jobs) = 0;
};

// 32 random hexadecimal digits.
std::string random_token();

// The scheduler of that name (of scheduler_names()).
std::unique_ptr<Scheduler> make_scheduler(const std::string& name, const Home& home);

} // namespace dt::jobs
