#include "jobs/slurm/kind.hpp"

#include "jobs/slurm/load.hpp"
#include "jobs/slurm/scheduler_args.hpp"
#include "jobs/slurm/slurm_scheduler.hpp"
#include "jobs/slurm/slurm_site.hpp"
#include "jobs/slurm/slurm_step.hpp"

namespace dt::jobs::slurm {

std::unique_ptr<Scheduler> SlurmKind::open(const Home& home) const
{
  return std::make_unique<SlurmScheduler>(home, open_slurm());
}

void SlurmKind::check_args(std::span<const std::string> args) const
{
  SlurmJob job;
  apply_scheduler_args(args, job);
}

SiteReport SlurmKind::examine() const { return examine_site(); }

std::unique_ptr<Site> SlurmKind::open_site() const { return std::make_unique<SlurmSiteJobs>(open_slurm()); }

std::unique_ptr<BatchStep> SlurmKind::batch_step() const { return std::make_unique<SlurmStep>(); }

} // namespace dt::jobs::slurm
