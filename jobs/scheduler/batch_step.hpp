// BatchStep: the job of a cluster's scheduler in which `dtjob batch` runs, as its environment and the scheduler's commands show
// it there.
#pragma once

#include "jobs/scheduler/scheduler.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dt::jobs {

// The job in which this process runs, read from environment variables that the scheduler sets.
struct StepFacts {
  std::string job_id;                  // as in submission.json: "7", or "7_3" for task 3 of an array
  int restart = 0;                     // how often the scheduler had started this job before
  std::optional<std::uint32_t> task{}; // index of the array's task; nothing: the job is not of an array
};

// The scheduler's answer to a request to start the job again.
struct RequeueAnswer {
  bool is_final = false; // it will, or it never will; otherwise it can be asked again
  std::string words;     // accepted_answer, or why not
};

class BatchStep {
 public:
  using Say = std::function<void(const std::string&)>; // takes a sentence for the log of the batch
  virtual ~BatchStep() = default;
  // Throws an environment error if this process does not run in a job of the scheduler.
  virtual StepFacts facts() const = 0;
  // Names of the job's nodes, in the order in which ranks are placed. Throws an environment error if the scheduler does not tell.
  virtual std::vector<std::string> hosts() const = 0;
  // When the scheduler began to take this job off its nodes; nothing if it has not, or does not say so.
  virtual std::optional<double> preempted_unix_s(const Say& say) const = 0;
  // The job's time limit as the scheduler has it now: an administrator may have changed it. Nothing if there is none, or it is
  // not known.
  virtual std::optional<std::int64_t> time_limit_s() const = 0;
  // Asks the scheduler once to start this job again after its end, unless the user has ended it.
  virtual RequeueAnswer ask_for_requeue() const = 0;
  // Removes jobs from the queue that have not started. Never those of others, should an id have been given out again.
  virtual void withdraw(std::span<const JobHandle> jobs, const Say& say) const = 0;
};

} // namespace dt::jobs
