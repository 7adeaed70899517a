// Slurm as one of the schedulers of the registry.
#pragma once

#include "jobs/scheduler/kind.hpp"

namespace dt::jobs::slurm {

class SlurmKind final : public SchedulerKind {
 public:
  std::string name() const override { return "slurm"; }
  std::unique_ptr<Scheduler> open(const Home& home) const override;
  void check_args(std::span<const std::string> args) const override;
  std::vector<std::string> nodes(const ResourcesSpec& resources) const override;
  SiteReport examine() const override;
  std::unique_ptr<Site> open_site() const override;
  std::unique_ptr<BatchStep> batch_step() const override;
  NodeMarks node_marks() const override { return {"SLURMD_NODENAME", "/job_"}; }
};

} // namespace dt::jobs::slurm
