// Scheduler: who runs jobs. Submit, poll many at once, cancel; one class a scheduler, registered in make_scheduler.
#pragma once

#include "core/paths.hpp"
#include "core/run_record.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::jobs {

// One attempt at a run, ready to be started: its script is written, its intent (submission.json without an id) is too.
struct JobRequest {
  std::string name;  // the run's key
  std::string token; // of the submission
  AttemptFolder attempt;
  ResourcesSpec resources;
};

// What the scheduler answered; an empty id with a message when it refused.
struct SubmitOutcome {
  std::string job_id;
  std::string error;
};

// A job submitted before. Id, name and token together: ids alone are given out again after a crash.
struct JobHandle {
  std::string job_id;
  std::string name;
  std::string token;
  AttemptFolder attempt;
};

// What the scheduler knows about a job now.
struct JobStatus {
  enum class State { not_found, queued, running, ended, unknown };
  State state = State::not_found;
  std::string native_state;     // in the scheduler's own word, kept even when we do not know it
  std::string reason;           // in words: "waits for 2 cores; 3 jobs are before it"
  std::optional<int> exit_code; // of an ended job; 128 + n when signal n ended it
  std::string job_id;           // of a job that is known by its token: the answer its submitter may never have seen
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual std::string name() const = 0;
  // One outcome a request, in order. Throws only when nothing can be submitted at all (scheduler or environment error).
  virtual std::vector<SubmitOutcome> submit(std::span<const JobRequest> requests) = 0;
  // One status a job, in order, in one question to the scheduler.
  virtual std::vector<JobStatus> poll(std::span<const JobHandle> jobs) = 0;
  // Asks for an end and returns at once; jobs that ended already are left alone.
  virtual void cancel(std::span<const JobHandle> jobs) = 0;
};

// The scheduler of that name (of scheduler_names()).
std::unique_ptr<Scheduler> make_scheduler(const std::string& name, const Home& home);

} // namespace dt::jobs
