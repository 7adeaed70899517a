// The Slurm scheduler. It submits a sweep as few arrays, polls with one request (two with accounting) and identifies jobs by
// their comment, or by id, time of submission and name (records.hpp).
//
// The class keeps no state between calls. The only state is <home>/slurm/<batch>/ (batch.hpp) and Slurm's queue.
#pragma once

#include "jobs/scheduler/scheduler.hpp"
#include "jobs/slurm/access/api.hpp"
#include "jobs/slurm/batch.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dt::jobs::slurm {

class SlurmScheduler final : public Scheduler {
 public:
  // Function that waits between two tries; tests replace it.
  using Pause = std::function<void(double seconds)>;
  static void sleep(double seconds);

  SlurmScheduler(const Home& home, std::shared_ptr<SlurmApi> api, Pause pause = &SlurmScheduler::sleep)
      : home_(home), api_(std::move(api)), pause_(std::move(pause))
  {
  }
  std::string name() const override { return "slurm"; }
  std::string cluster() override;
  // Asks the site for its limits, because arrays must be split at them.
  void assign_tokens(std::span<JobRequest> requests, const SubmitRules& rules) override;
  // Asks the site for its limits, partitions and nodes, and the accounting for this user's accounts if the site demands one.
  std::vector<std::string> misfits(std::span<const JobRequest> requests) override;
  // Submits each batch once. If a batch's folder exists already, the queue is searched for the batch first.
  std::vector<SubmitOutcome> submit(std::span<const JobRequest> requests, const SubmitRules& rules) override;
  std::vector<JobStatus> poll(std::span<const JobHandle> jobs) override;
  // Throws a scheduler error also if a job lives of which it cannot be told whether it is the one to be ended.
  void cancel(std::span<const JobHandle> jobs) override;

 private:
  Home home_;
  std::shared_ptr<SlurmApi> api_;
  Pause pause_;
};

} // namespace dt::jobs::slurm
