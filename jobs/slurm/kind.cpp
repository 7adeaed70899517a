#include "jobs/slurm/kind.hpp"

#include "core/error.hpp"
#include "core/process.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/scheduler/batch_step.hpp"
#include "jobs/slurm/access/build_module.hpp"
#include "jobs/slurm/access/load.hpp"
#include "jobs/slurm/batch.hpp"
#include "jobs/slurm/job_builder.hpp"
#include "jobs/slurm/scheduler_args.hpp"
#include "jobs/slurm/slurm_scheduler.hpp"
#include "jobs/slurm/slurm_site.hpp"

#include <cstdlib>
#include <map>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

// A job of Slurm as `dtjob batch` sees it: Slurm's variables and commands, which the nodes have where libslurm may be missing.

class SlurmStep final : public BatchStep {
 public:
  StepFacts facts() const override;
  std::vector<std::string> hosts() const override;
  std::optional<double> preempted_unix_s(const Say& say) const override;
  bool ask_for_requeue(const Say& say) const override;
  // Jobs are known by their names, because Slurm gives ids out again.
  void withdraw(std::span<const JobHandle> jobs, const Say& say) const override;
};

std::string variable(const char* name)
{
  const char* text = std::getenv(name);
  return text == nullptr ? std::string() : text;
}

Error failure(const std::string& what) { return {ErrorKind::environment, what}; }

StepFacts SlurmStep::facts() const
{
  StepFacts facts;
  const auto task = variable("SLURM_ARRAY_TASK_ID");
  facts.job_id = task.empty() ? variable("SLURM_JOB_ID") : variable("SLURM_ARRAY_JOB_ID") + "_" + task;
  if (facts.job_id.empty() || facts.job_id.front() == '_')
    throw failure("this program is for Slurm to run: SLURM_JOB_ID is not set");
  facts.restart = std::atoi(variable("SLURM_RESTART_COUNT").c_str());
  if (!task.empty()) facts.task = static_cast<std::uint32_t>(std::strtoul(task.c_str(), nullptr, 10));
  return facts;
}

std::vector<std::string> SlurmStep::hosts() const
{
  const auto answer = run_command({"scontrol", "show", "hostnames", variable("SLURM_JOB_NODELIST")});
  if (!answer.ok()) throw failure("scontrol does not tell the job's nodes: " + answer.err);
  return split(trim(answer.out), '\n');
}

// With a grace time, Slurm gives the job the time of its preemption before it signals the steps.
std::optional<double> SlurmStep::preempted_unix_s(const Say& say) const
{
  constexpr double patience_s = 30;
  constexpr std::string_view name = " PreemptTime=";
  const auto answer =
      run_command({"env", "SLURM_TIME_FORMAT=%s", "scontrol", "show", "job", "--oneliner", facts().job_id}, patience_s);
  if (!answer.ok()) {
    say("Slurm does not say whether this job is being preempted: " + std::string(trim(answer.err)));
    return std::nullopt;
  }
  const auto at = answer.out.find(name);
  const double since = at == std::string::npos ? 0 : std::atof(answer.out.c_str() + at + name.size()); // 0: "None"
  if (since > 0) return since;
  if (answer.out.find(" JobState=PREEMPTED ") != std::string::npos) return now_unix_s();
  return std::nullopt;
}

// A job that was ended by scancel must not come back; ahead of a time limit or within the grace of a preemption it still runs.
bool SlurmStep::ask_for_requeue(const Say& say) const
{
  const auto id = facts().job_id;
  const auto answer = run_command({"squeue", "--noheader", "--jobs=" + id, "--format=%T"});
  const auto state = std::string(trim(answer.out + answer.err));
  if ((state == "RUNNING" || state == "PREEMPTED") && run_command({"scontrol", "requeue", id}).ok()) {
    say("asked Slurm to start this job again");
    return true;
  }
  say("this job is not started again by this program; Slurm reports its state as: " + state);
  return false;
}

void SlurmStep::withdraw(std::span<const JobHandle> jobs, const Say& say) const
{
  std::map<std::string, std::vector<std::string>> ids; // by name
  for (const auto& job : jobs)
    if (const auto token = parse_token(job.token); token && !job.job_id.empty())
      ids[recorded_job_name(batch_folder(home_of(job.attempt), token->batch), *token, job.name)].push_back(job.job_id);
  for (const auto& [name, of_name] : ids) {
    std::vector<std::string> command{"scancel", "--state=PENDING", "--name=" + name};
    command.insert(command.end(), of_name.begin(), of_name.end());
    const auto answer = run_command(command);
    say(fmt::format("withdrew {} that {} held back{}",
                    of_name.size() == 1 ? "the job of 1 run" : fmt::format("the jobs of {} runs", of_name.size()),
                    of_name.size() == 1 ? "is" : "are", answer.ok() ? "" : ": " + answer.err));
  }
}

} // namespace

std::unique_ptr<Scheduler> SlurmKind::open(const Home& home) const
{
  return std::make_unique<SlurmScheduler>(home, open_slurm());
}

void SlurmKind::check_args(std::span<const std::string> args) const
{
  SlurmJob job;
  apply_scheduler_args(args, job);
}

std::vector<std::string> SlurmKind::nodes(const ResourcesSpec& resources) const
{
  const auto api = open_slurm();
  try {
    return usable_nodes(api->partitions(), api->nodes(), resources);
  } catch (const SlurmFailure& failure) {
    throw Error(ErrorKind::scheduler, fmt::format("Slurm does not say which nodes there are: {}", failure.what()));
  }
}

SiteReport SlurmKind::examine() const { return examine_site(); }

std::unique_ptr<Site> SlurmKind::open_site() const { return std::make_unique<SlurmSiteJobs>(open_slurm()); }

BuiltModule SlurmKind::build_module(const ModuleBuild& build) const { return build_slurm_module(build); }

std::unique_ptr<BatchStep> SlurmKind::batch_step() const { return std::make_unique<SlurmStep>(); }

} // namespace dt::jobs::slurm
