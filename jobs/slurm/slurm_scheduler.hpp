// The Slurm scheduler: sweeps as few submissions, status in one question (two with the accounting), jobs known by their comment.
//
// It keeps nothing in memory between calls; <home>/slurm/<batch>/ (batch.hpp) and Slurm's queue are all there is.
#pragma once

#include "jobs/scheduler.hpp"
#include "jobs/slurm/api.hpp"
#include "jobs/slurm/batch.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dt::jobs::slurm {

class SlurmScheduler final : public Scheduler {
 public:
  // How it waits between two tries; tests pass one that does not.
  using Pause = std::function<void(double seconds)>;
  static void sleep(double seconds);

  SlurmScheduler(const Home& home, std::shared_ptr<SlurmApi> api, Pause pause = &SlurmScheduler::sleep)
      : home_(home), api_(std::move(api)), pause_(std::move(pause))
  {
  }
  std::string name() const override { return "slurm"; }
  // Asks the site for its limits: arrays are split at them.
  void assign_tokens(std::span<JobRequest> requests, const SubmitRules& rules) override;
  // One submission a batch. A batch whose folder is there already is looked up before it is submitted (again).
  std::vector<SubmitOutcome> submit(std::span<const JobRequest> requests, const SubmitRules& rules) override;
  std::vector<JobStatus> poll(std::span<const JobHandle> jobs) override;
  void cancel(std::span<const JobHandle> jobs) override;

 private:
  Home home_;
  std::shared_ptr<SlurmApi> api_;
  Pause pause_;
};

} // namespace dt::jobs::slurm
