#include "jobs/agent/batch_job.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/record/claim.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/agent/attempt_job.hpp"
#include "jobs/agent/own_processes.hpp"
#include "jobs/agent/takeover.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/machine/quick_file.hpp"
#include "jobs/registry/schedulers.hpp"
#include "jobs/scheduler/batch.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

namespace dt::jobs::agent {
namespace {

using Clock = std::chrono::steady_clock;

Error failure(const std::string& what) { return {ErrorKind::environment, what}; }

// The job that this process runs in, as the scheduler to which the batch belongs shows it.
std::unique_ptr<BatchStep> step_of(const std::filesystem::path& batch)
{
  const auto name = scheduler_of_batch(batch);
  auto step = scheduler_kind(name).batch_step();
  if (!step) throw failure(batch.string() + " is no batch: the scheduler " + name + " has none");
  return step;
}

class BatchJob {
 public:
  BatchJob(const BatchTerms& terms, Inbox& inbox)
      : terms_(terms), inbox_(inbox), step_(step_of(terms.folder)),
        facts_(step_->facts()), self_{facts_.job_id, facts_.restart, terms.is_ladder}, begin_(Clock::now())
  {
  }

  int run()
  {
    bool has_found = false;
    for (const auto& line : task_lines()) {
      const auto task = task_of(line);
      if (!is_mine(task)) continue;
      has_found = true;
      run_task(task);
      if (!terms_.is_ladder) break;
    }
    if (!has_found)
      throw failure(fmt::format("{} has no line for task {}; nothing is run", tasks_path().string(), facts_.task.value_or(0)));
    if (asks_again_) ask_for_requeue();
    return first_failure_;
  }

 private:
  bool may_requeue() const { return terms_.requeue > self_.restart; }

  void say(const std::string& what) const
  {
    fmt::print("{} job {} restart {} on {}: {}\n", format_time_utc(now_unix_s()), self_.job_id, self_.restart, host_name(),
               printable(what));
    std::fflush(stdout);
  }

  // ---- the lines of `tasks` ------------------------------------------------------------------------------------------

  std::filesystem::path tasks_path() const { return terms_.folder / "tasks"; }

  std::vector<std::string> task_lines() const
  {
    try {
      auto lines = split(read_file(tasks_path()), '\n');
      if (!lines.empty() && lines.back().empty()) lines.pop_back();
      return lines;
    } catch (const Error& error) {
      throw failure(fmt::format("{}; the runs of this batch were not started", error.what()));
    }
  }

  BatchTask task_of(const std::string& line) const
  {
    const auto tasks = parse_tasks(line + "\n");
    const auto token = tasks.empty() ? std::nullopt : parse_token(tasks.front().token);
    if (!token || !tasks.front().attempt.is_absolute())
      throw failure(fmt::format("{}: a line is damaged, and nothing is run for it: {}", tasks_path().string(), line));
    if (token->batch != terms_.folder.filename() || token->index != tasks.front().index)
      throw failure(fmt::format("{}: a line is of another batch, and nothing is run for it: {}", tasks_path().string(), line));
    return tasks.front();
  }

  bool is_mine(const BatchTask& task) const { return terms_.is_ladder || !facts_.task || *facts_.task == task.index; }

  // ---- one run ---------------------------------------------------------------------------------------------------------

  void run_task(const BatchTask& task)
  {
    const AttemptFolder first(task.attempt);
    while (const auto signal = inbox_.next()) note(*signal);
    if (stop_) return skip(first);
    const auto attempt = take_attempt(first, task.token, self_, [&](const std::string& what) { say(what); });
    if (!attempt) return;
    const int code = run_taken(*attempt, task);
    if (first_failure_ == 0) first_failure_ = code;
  }

  int run_taken(const AttemptFolder& attempt, const BatchTask& task)
  {
    say("runs " + attempt.path().string());
    const int code = run_attempt(attempt, terms_of(attempt, task), inbox_);
    if (terms_.is_ladder) end_leftovers(attempt);
    if (is_there(attempt.requeue())) asks_again_ = attempt;
    say(fmt::format("{} has ended with exit code {}", attempt.path().string(), code));
    return code;
  }

  JobTerms terms_of(const AttemptFolder& attempt, const BatchTask& task)
  {
    JobTerms terms;
    terms.environment = {{token_variable, task.token}, {"DTCTL_JOB_ID", self_.job_id}};
    terms.may_requeue = may_requeue();
    terms.preempted_unix_s = [this] { return preempted_unix_s(); };
    // The other runs of a ladder are turns of this job, which leaves them out.
    if (!terms_.is_ladder) terms.on_held_back = [this](const std::vector<AttemptFolder>& held) { withdraw(held); };
    // The scheduler knows the limit of a job, but not that of a ladder's run.
    if (terms_.is_ladder) {
      terms.time_limit_s = task.time_limit_s;
      terms.signal_ahead_s = terms_.signal_ahead_s;
      terms.environment["OMPI_MCA_orte_default_hostfile"] = hosts_for(attempt, task.nodes).string();
    }
    terms.on_signal = [this, attempt, limit = task.time_limit_s](int signal) {
      note(signal);
      if (signal == SIGUSR1 && !terms_.is_ladder && is_near(limit))
        write_file_quick(attempt.stop_reason(), std::string(time_limit_reason) + "\n");
    };
    return terms;
  }

  // Once it is known that the job is being preempted, no other run of a ladder is begun.
  std::optional<double> preempted_unix_s()
  {
    const auto since = step_->preempted_unix_s([this](const std::string& what) { say(what); });
    if (since) note(SIGTERM);
    return since;
  }

  void note(int signal)
  {
    if (stop_ != SIGTERM) stop_ = signal;
    say("told to stop by " + signal_name(signal));
  }

  // Cancelled attempts run nothing when their turn comes; without their jobs, nobody waits for nodes for them.
  void withdraw(const std::vector<AttemptFolder>& held) const
  {
    std::vector<JobHandle> jobs;
    for (const auto& attempt : held)
      if (const auto submission = read_submission(attempt))
        jobs.push_back({submission->job_id, attempt.run_folder().filename().string(), submission->token, attempt});
    step_->withdraw(jobs, [this](const std::string& what) { say(what); });
  }

  // Schedulers warn up to a minute early. If the limit is further away, the warning has another cause.
  bool is_near(std::int64_t limit_s) const
  {
    constexpr std::int64_t early_s = 60;
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count();
    return age + terms_.signal_ahead_s + early_s >= limit_s;
  }

  // Writes the names of the job's first nodes to a file that mpirun reads. srun does not need it: its command states the number
  // of nodes.
  std::filesystem::path hosts_for(const AttemptFolder& attempt, std::int64_t nodes) const
  {
    const auto hosts = step_->hosts();
    if (std::cmp_less(hosts.size(), nodes))
      throw failure(
          fmt::format("{} needs {} nodes, and the job has fewer: {}", attempt.path().string(), nodes, join(hosts, "\n") + "\n"));
    const auto path = attempt.path() / name_of(AttemptFile::hosts);
    write_file_quick(path, join({hosts.begin(), hosts.begin() + nodes}, "\n") + "\n");
    return path;
  }

  // The next run of the ladder uses the same cores.
  static void end_leftovers(const AttemptFolder& attempt)
  {
    if (const auto owner = read_owner(attempt))
      for (const pid_t process : own_processes(owner->token)) ::kill(process, SIGKILL);
  }

  // Asked to stop before the turn of this attempt: it waits for the next start, or its stop_reason says why there is none.
  void skip(const AttemptFolder& attempt)
  {
    if (may_requeue()) {
      if (!asks_again_) asks_again_ = attempt;
    } else if (is_there(attempt.path()) && !is_there(attempt.owner())) {
      write_file_quick(attempt.stop_reason(),
                       fmt::format("not started: its job was told to stop by {} before its turn came\n", signal_name(*stop_)));
    }
  }

  void ask_for_requeue() const
  {
    if (step_->ask_for_requeue([this](const std::string& what) { say(what); })) return;
    // In a ladder the marker stays: it says that the run was cut off, should the scheduler start the job again by itself.
    std::error_code none;
    if (!terms_.is_ladder) std::filesystem::remove(asks_again_->requeue(), none);
  }

  const BatchTerms& terms_;
  Inbox& inbox_;
  std::unique_ptr<BatchStep> step_;
  StepFacts facts_;
  JobIdentity self_;
  Clock::time_point begin_;
  std::optional<int> stop_;                 // the signal that asked the job to stop
  std::optional<AttemptFolder> asks_again_; // the attempt for which the job is to be started again
  int first_failure_ = 0;
};

} // namespace

int run_batch(const BatchTerms& terms, Inbox& inbox) { return BatchJob(terms, inbox).run(); }

} // namespace dt::jobs::agent
