#include "jobs/scheduler/scheduler.hpp"

#include "core/text.hpp"

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

std::string elsewhere_words(const std::string& of_job, const std::string& here)
{
  if (of_job.empty() || of_job == here) return {};
  return fmt::format("it was submitted to the cluster {}, and this is {}", printable(of_job), printable(here));
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

} // namespace dt::jobs
