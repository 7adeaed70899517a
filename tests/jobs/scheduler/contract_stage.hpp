// A home with a scheduler, for the contract that every scheduler keeps (contract_cases.hpp).
#pragma once

#include "core/files/file.hpp"
#include "core/home/home.hpp"
#include "jobs/scheduler/kind.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dt::jobs::testing {

class ContractStage {
 public:
  ContractStage(const SchedulerKind& kind, const Home& home) : kind_(kind), home_(home), scheduler_(kind.open(home)) {}
  ContractStage(const ContractStage&) = delete;
  ContractStage& operator=(const ContractStage&) = delete;
  virtual ~ContractStage() = default;
  // Whether the runs of a ladder share a job, and how long a change of state may take to be seen.
  virtual bool has_ladders() const { return true; }
  virtual int patience_s() const { return 30; }
  // Makes this process look like a part of that job to the scheduler's BatchStep. Only called if there is one.
  virtual void enter(const std::string& job_id) { static_cast<void>(job_id); }

  const SchedulerKind& kind() const { return kind_; }
  Scheduler& scheduler() const { return *scheduler_; }

  // A run whose job writes "begin KEY TOKEN ID" to the trace, waits until it may go, writes "end KEY" and exits with the code.
  JobRequest request(const std::string& key, int code = 0) const;
  void let_go(const std::string& key) const { write_file_atomic(attempt(key).path() / "go", ""); }
  // Gives tokens, writes the intents, submits, and writes the ids down as submit_runs does. Fails the test if a job is refused.
  std::vector<JobHandle> submit(std::vector<JobRequest> requests, const SubmitRules& rules = {}) const;
  // Asks for the end as cancel_runs does.
  void cancel(const std::vector<JobHandle>& jobs) const;

  JobStatus look(const JobHandle& job) const { return scheduler_->poll(std::vector{job}).front(); }
  // Whether the job is seen in that state before the patience is over.
  bool reaches(const JobHandle& job, JobStatus::State state) const;
  bool begins(const std::string& key) const;
  // "begin KEY" and "end KEY" in the order in which they happened; asks the scheduler first.
  std::vector<std::string> trace() const;
  // The token and the job's id that the job of this run found in its environment.
  std::vector<std::string> told(const std::string& key) const;

 private:
  AttemptFolder attempt(const std::string& key) const { return {home_.run(key), 1}; }
  std::vector<std::string> trace_lines() const;

  const SchedulerKind& kind_;
  Home home_;
  std::unique_ptr<Scheduler> scheduler_;
};

} // namespace dt::jobs::testing
