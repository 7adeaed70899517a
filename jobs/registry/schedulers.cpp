#include "jobs/registry/schedulers.hpp"

#include "core/error.hpp"
#include "core/spec/names.hpp"
#include "core/text.hpp"
#include "jobs/local/local_scheduler.hpp"
#include "jobs/slurm/load.hpp"
#include "jobs/slurm/scheduler_args.hpp"
#include "jobs/slurm/slurm_scheduler.hpp"

namespace dt::jobs {

void check_scheduler_args(const std::string& scheduler, std::span<const std::string> args)
{
  slurm::SlurmJob job;
  if (scheduler == "slurm") slurm::apply_scheduler_args(args, job);
}

std::unique_ptr<Scheduler> make_scheduler(const std::string& name, const Home& home)
{
  if (name == "local") return std::make_unique<local::LocalScheduler>(home);
  if (name == "slurm") return std::make_unique<slurm::SlurmScheduler>(home, slurm::open_slurm());
  throw Error(ErrorKind::recipe, "There is no scheduler `" + printable(name) +
                                     "`; resources.scheduler may be one of: " + join(strings_of(scheduler_names()), ", ") + ".");
}

} // namespace dt::jobs
