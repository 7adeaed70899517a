#include "jobs/scheduler.hpp"

#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/spec/names.hpp"
#include "core/text.hpp"
#include "jobs/local/local_scheduler.hpp"
#include "jobs/slurm/load.hpp"
#include "jobs/slurm/scheduler_args.hpp"
#include "jobs/slurm/slurm_scheduler.hpp"

#include <random>

#include <fmt/format.h>

namespace dt::jobs {

std::string random_token()
{
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

void Scheduler::assign_tokens(std::span<JobRequest> requests, const SubmitRules&)
{
  for (auto& request : requests)
    if (request.token.empty()) request.token = random_token();
}

std::vector<std::string> Scheduler::misfits(std::span<const JobRequest> requests)
{
  return std::vector<std::string>(requests.size());
}

JobRequest request_for(const PlannedRun& run, const AttemptFolder& attempt, const std::string& token, const std::string& study)
{
  JobRequest request{run.key, token, attempt, run.spec.job_resources()};
  request.side_threads = run.spec.job_side_threads();
  if (run.spec.study.layout == StudyLayout::ladder) request.ladder = study;
  return request;
}

void check_scheduler_args(const std::string& scheduler, std::span<const std::string> args)
{
  slurm::SlurmJob job;
  if (scheduler == "slurm") slurm::apply_scheduler_args(args, job);
}

std::unique_ptr<Scheduler> make_scheduler(const std::string& name, const Home& home)
{
  if (name == "local") return std::make_unique<local::LocalScheduler>(home);
  if (name == "slurm") return std::make_unique<slurm::SlurmScheduler>(home, slurm::open_slurm());
  throw Error(ErrorKind::recipe, unknown_name("scheduler", name, strings_of(scheduler_names())));
}

} // namespace dt::jobs
