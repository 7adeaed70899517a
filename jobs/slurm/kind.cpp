#include "jobs/slurm/kind.hpp"

#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/scheduler/batch_step.hpp"
#include "jobs/slurm/access/failure_text.hpp"
#include "jobs/slurm/access/load.hpp"
#include "jobs/slurm/access/output.hpp"
#include "jobs/slurm/batch.hpp"
#include "jobs/slurm/job_builder.hpp"
#include "jobs/slurm/scheduler_args.hpp"
#include "jobs/slurm/slurm_scheduler.hpp"
#include "jobs/slurm/slurm_site.hpp"
#include "jobs/slurm/words.hpp"

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
  std::optional<std::int64_t> time_limit_s() const override;
  RequeueAnswer ask_for_requeue() const override;
  // Jobs are known by their names, because Slurm gives ids out again.
  void withdraw(std::span<const JobHandle> jobs, const Say& say) const override;
};

std::string variable(const char* name)
{
  const char* text = std::getenv(name);
  return text == nullptr ? std::string() : text;
}

// The text that a command printed; for one that printed nothing, as when it hung, its exit code.
std::string words_of(const CommandResult& result)
{
  const auto words = printable(std::string(trim(result.err.empty() ? result.out : result.err)));
  return words.empty() ? fmt::format("no answer (exit code {})", result.exit_code) : words;
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

// The job as Slurm has it now, and how the look at it went.
struct JobNow {
  std::map<std::string, std::string> fields; // of `scontrol show job`; empty: Slurm does not tell
  CommandResult answer;
};

JobNow look_at_job(const std::string& id)
{
  constexpr double patience_s = 30;
  JobNow job;
  job.answer = run_command({"env", "SLURM_TIME_FORMAT=%s", "scontrol", "show", "job", "--oneliner", id}, patience_s);
  for (const auto& line : split(job.answer.out, '\n')) // a site may print others
    if (line.starts_with("JobId=")) job.fields = read_record(line);
  return job;
}

// With a grace time, Slurm gives the job the time of its preemption before it signals the steps.
std::optional<double> SlurmStep::preempted_unix_s(const Say& say) const
{
  auto job = look_at_job(facts().job_id);
  if (job.fields.empty()) say("Slurm does not say whether this job is being preempted: " + words_of(job.answer));
  if (const auto since = leading_number<std::int64_t>(job.fields["PreemptTime"]); since && *since > 0)
    return static_cast<double>(*since);
  if (job.fields["JobState"] == "PREEMPTED") return now_unix_s();
  return std::nullopt;
}

std::optional<std::int64_t> SlurmStep::time_limit_s() const
{
  return parse_duration_s(look_at_job(facts().job_id).fields["TimeLimit"]); // "UNLIMITED" and no answer are none
}

// A job that was ended by scancel must not come back; ahead of a time limit or within the grace of a preemption it still runs.
RequeueAnswer SlurmStep::ask_for_requeue() const
{
  constexpr double patience_s = 30;
  const auto id = facts().job_id;
  auto job = look_at_job(id);
  const auto state = job.fields["JobState"];
  if (state.empty()) return {is_gone(failure_of("scontrol", job.answer).code()), words_of(job.answer)};
  if (state != "RUNNING" && state != "PREEMPTED") return {true, "the job is " + state};
  const auto answer = run_command({"scontrol", "requeue", id}, patience_s);
  if (answer.ok()) return {true, std::string(accepted_answer)};
  const auto code = failure_of("scontrol", answer).code();
  const bool may_change = is_ambiguous(code) || is_slow(code) || is_temporary(code);
  return {!may_change, words_of(answer)};
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

std::unique_ptr<BatchStep> SlurmKind::batch_step() const { return std::make_unique<SlurmStep>(); }

} // namespace dt::jobs::slurm
