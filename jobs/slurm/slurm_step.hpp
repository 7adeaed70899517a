// A job of Slurm as `dtjob batch` sees it: Slurm's variables and commands, which the nodes have where libslurm may be missing.
#pragma once

#include "jobs/scheduler/batch_step.hpp"

namespace dt::jobs::slurm {

class SlurmStep final : public BatchStep {
 public:
  StepFacts facts() const override;
  std::vector<std::string> hosts() const override;
  std::optional<double> preempted_unix_s(const Say& say) const override;
  bool ask_for_requeue(const Say& say) const override;
  // Jobs are known by their names, because Slurm gives ids out again.
  void withdraw(std::span<const JobHandle> jobs, const Say& say) const override;
};

} // namespace dt::jobs::slurm
