// A scheduler that lives in the test's process and starts jobs as its children: the smallest one that keeps the contract.
#pragma once

#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "jobs/scheduler/kind.hpp"

#include <algorithm>
#include <csignal>
#include <list>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

namespace dt::jobs::testing {
inline constexpr const char* fake_id_variable = "FAKE_JOB_ID"; // in the environment of a job
struct FakeJob {
  std::string id, submission;
  std::int64_t max_running = 0; // of the submission
  std::vector<JobRequest> runs; // several: a ladder
  pid_t process = 0;            // 0: it waits
  int restarts = 0, exit_code = 0;
  bool has_ended = false, is_cancelled = false;
  bool is_running() const { return process != 0 && !has_ended; }
};

// The jobs in order of submission. Nothing happens until somebody looks.
struct FakeQueue {
  ~FakeQueue() { std::ranges::for_each(jobs, end); }
  void look()
  {
    for (auto& job : jobs)
      if (int status = 0; job.is_running() && ::waitpid(job.process, &status, WNOHANG) == job.process) {
        job.has_ended = true;
        job.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      }
    for (auto& job : jobs)
      if (may_start(job)) start(job);
  }
  FakeJob* find(const std::string& id_or_token)
  {
    for (auto& job : jobs)
      for (const auto& run : job.runs)
        if (job.id == id_or_token || run.token == id_or_token) return &job;
    return nullptr;
  }
  bool may_start(const FakeJob& job)
  {
    const auto& after = job.runs.front().after;
    const auto is_over = [&](const std::string& id) { return find(id) == nullptr || find(id)->has_ended; };
    const auto is_beside = [&](const FakeJob& one) { return one.submission == job.submission && one.is_running(); };
    return job.process == 0 && !job.has_ended && std::ranges::all_of(after, is_over) &&
           (job.max_running == 0 || std::ranges::count_if(jobs, is_beside) < job.max_running);
  }
  static void start(FakeJob& job)
  {
    std::string script = "export DTCTL_JOB_ID=" + job.id;
    for (const auto& run : job.runs)
      script += "; DTCTL_JOB_TOKEN=" + run.token + " bash " + run.attempt.script().string() + " " + run.attempt.path().string();
    job.process = ::fork();
    if (job.process != 0) return;
    ::setsid();
    ::execlp("bash", "bash", "-c", script.c_str(), nullptr);
    ::_exit(127);
  }
  static void end(FakeJob& job)
  {
    if (!job.has_ended && job.process != 0 && ::kill(-job.process, SIGKILL) == 0) ::waitpid(job.process, nullptr, 0);
    job.is_cancelled = job.is_cancelled || !job.has_ended;
    job.has_ended = true;
  }
  std::list<FakeJob> jobs;
};

struct FakeScheduler final : Scheduler {
  explicit FakeScheduler(FakeQueue& jobs) : queue(jobs) {}
  std::string name() const override { return "fake"; }
  std::vector<SubmitOutcome> submit(std::span<const JobRequest> requests, const SubmitRules& rules) override
  {
    std::map<std::string, FakeJob*> jobs; // by ladder, or by token
    std::vector<SubmitOutcome> outcomes;
    const auto submission = random_token();
    for (const auto& request : requests) {
      auto*& job = jobs[request.ladder.empty() ? request.token : request.ladder];
      const auto id = "fake-" + std::to_string(queue.jobs.size() + 1);
      if (job == nullptr) job = &queue.jobs.emplace_back(id, submission, rules.max_running);
      job->runs.push_back(request);
      outcomes.push_back({.job_id = job->id, .error = {}});
    }
    return outcomes;
  }
  std::vector<JobStatus> poll(std::span<const JobHandle> jobs) override
  {
    queue.look();
    std::vector<JobStatus> statuses(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (const auto* job = queue.find(jobs[i].token)) statuses[i] = status_of(*job);
    return statuses;
  }
  void cancel(std::span<const JobHandle> jobs) override
  {
    for (const auto& job : jobs)
      if (auto* known = queue.find(job.token)) FakeQueue::end(*known);
  }
  static JobStatus status_of(const FakeJob& job)
  {
    using State = JobStatus::State;
    const auto state = job.has_ended ? State::ended : job.is_running() ? State::running : State::queued;
    JobStatus status{state, job.has_ended ? "over" : "known", "waits for other jobs", job.exit_code, job.id};
    if (job.is_cancelled) status.outcome = RunState::cancelled;
    status.restarts = job.restarts;
    return status;
  }
  FakeQueue& queue;
};

struct FakeStep final : BatchStep {
  explicit FakeStep(FakeQueue& jobs) : queue(jobs) {}
  FakeJob& job() const
  {
    const char* id = std::getenv(fake_id_variable);
    if (auto* found = queue.find(id == nullptr ? "" : id)) return *found;
    throw Error(ErrorKind::environment, "this is no job of the fake cluster");
  }
  StepFacts facts() const override { return {.job_id = job().id, .restart = job().restarts}; }
  std::vector<std::string> hosts() const override { return {host_name()}; }
  std::optional<double> preempted_unix_s(const Say&) const override { return std::nullopt; }
  std::optional<std::int64_t> time_limit_s() const override { return std::nullopt; }
  RequeueAnswer ask_for_requeue() const override
  {
    FakeQueue::end(job());
    job() = {job().id, job().submission, job().max_running, job().runs, 0, job().restarts + 1};
    return {true, std::string(accepted_answer)};
  }
  void withdraw(std::span<const JobHandle> jobs, const Say&) const override { FakeScheduler(queue).cancel(jobs); }
  FakeQueue& queue;
};

struct FakeKind final : SchedulerKind {
  std::string name() const override { return "fake"; }
  std::unique_ptr<Scheduler> open(const Home&) const override { return std::make_unique<FakeScheduler>(*queue); }
  std::unique_ptr<BatchStep> batch_step() const override { return std::make_unique<FakeStep>(*queue); }
  void check_args(std::span<const std::string> args) const override
  {
    if (!args.empty()) throw Error(ErrorKind::recipe, "The fake cluster does not know " + args.front() + ".");
  }
  std::unique_ptr<FakeQueue> queue = std::make_unique<FakeQueue>();
};
} // namespace dt::jobs::testing
