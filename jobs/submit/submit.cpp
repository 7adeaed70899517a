#include "jobs/submit/submit.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/spec/run_key.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/launch/batch_script.hpp"
#include "jobs/machine/in_parallel.hpp"
#include "jobs/machine/quick_file.hpp"
#include "jobs/program/program_copies.hpp"
#include "jobs/registry/schedulers.hpp"

#include <mutex>
#include <unordered_set>

#include <fmt/format.h>
#include <unistd.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;
using Action = SubmitReport::Action;

// The decision about one run. If the action is `submitted`, `number` is the attempt to submit.
struct Decision {
  Action action = Action::submitted;
  int number = 0;
  std::string token; // token of an existing intent to continue; empty: make a new token
  std::string reason;
  bool takes_up = false; // the folder is left from an interrupted submission, for which nothing was started
  bool was_deferred = false;
  bool begins_anew = false; // without what earlier attempts have kept
};

std::string outcome_words(const RunStatus& status)
{
  return fmt::format("attempt {} {}{}", status.attempt,
                     status.verdict.state == RunState::failed ? "failed" : "is " + std::string(name_of(status.verdict.state)),
                     status.verdict.cause.empty() ? "" : ": " + status.verdict.cause);
}

// Whether the latest intent has no job id and no scheduler knows it. Nothing was started for it, so the same attempt is used
// again.
bool is_open_intent(const RunStatus& status)
{
  const auto state = status.verdict.state;
  return status.submission && status.submission->job_id.empty() &&
         (state == RunState::submitted || state == RunState::lost || status.is_deferred) && !status.begin;
}

Decision next_attempt(const RunStatus& status, const std::string& why)
{
  return {Action::submitted, status.newest_attempt + 1, {}, why};
}

Decision anew(Decision decision)
{
  decision.begins_anew = true;
  return decision;
}

Decision decide(const RunStatus& status, const SubmitOptions& options)
{
  const auto state = status.verdict.state;
  if (status.unreadable) return {Action::refused, status.attempt, {}, status.verdict.cause + "; whether it has run is unknown"};
  if (status.attempts == 0) return {Action::submitted, 1, {}, "it has never run"};
  if (!status.submission) return {Action::submitted, status.newest_attempt, {}, "an earlier submission was interrupted", true};
  if (is_open_intent(status))
    return {Action::submitted,
            status.attempt,
            status.submission->token,
            status.is_deferred ? "there was no room in the queue before" : "an earlier submission was interrupted",
            true,
            status.is_deferred};
  if (state == RunState::succeeded && options.force)
    return anew(next_attempt(status, "it succeeded and runs again because of --force"));
  if (state == RunState::succeeded)
    return {Action::already_done, status.attempt, {}, fmt::format("attempt {} succeeded", status.attempt)};
  if (!is_final(state)) return {Action::already_active, status.attempt, {}, outcome_words(status)};
  if (!options.retry_failed) return {Action::left_failed, status.attempt, {}, outcome_words(status)};
  return next_attempt(status, outcome_words(status));
}

// An attempt that will be submitted. Its folder is written when its token is known.
struct Prepared {
  std::size_t index; // index of its report
  const PlannedRun* run;
  JobRequest request;
  Submission submission;
  bool takes_up = false;          // copied from the decision
  bool was_deferred = false;      // copied from the decision
  bool begins_anew = false;       // copied from the decision
  bool owns_folder = false;       // this submission made or took over the attempt's folder, so it may remove it
  std::optional<Error> failure{}; // error from writing the folder
};

// Runs of one sweep have identical scripts. The first one is written and the others are hard links to it, which saves inodes.
class Scripts {
 public:
  void put(const fs::path& path, const std::string& text)
  {
    const std::lock_guard lock(mutex_);
    const auto [first, is_new] = first_.try_emplace(text, path);
    if (!is_new && ::link(first->second.c_str(), path.c_str()) == 0) return;
    write_new_file_quick(path, text); // the file system has no hard links, or no more for this file, or `path` exists
    first->second = path;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, fs::path> first_;
};

class Submitter {
 public:
  Submitter(const Home& home, const SubmitOptions& options) : home_(home), options_(options) {}

  std::vector<SubmitReport> run(std::span<const PlannedRun> runs)
  {
    std::vector<std::string> keys;
    for (const auto& run : runs) keys.push_back(run.key);
    const auto statuses = reconcile(home_, keys);
    for (std::size_t i = 0; i < runs.size(); ++i) consider(runs[i], statuses[i]);
    for (auto& job : prepared_) groups_[job.submission.scheduler].push_back(&job);
    for (auto& [name, jobs] : groups_) {
      const auto scheduler = scheduler_kind(name).open(home_);
      assign_tokens(*scheduler, jobs);
      write_folders(jobs);
      hand_over_to(*scheduler, jobs);
    }
    return std::move(reports_);
  }

 private:
  void consider(const PlannedRun& run, const RunStatus& status)
  {
    auto decision = decide(status, options_);
    if (!seen_.insert(run.key).second) decision = {Action::already_active, decision.number, {}, "it was requested twice"};
    if (decision.action == Action::submitted && decision.number > status.attempt &&
        has_finished_meanwhile(run.key, status, decision.number))
      decision = {
          Action::already_done, status.attempt, {}, fmt::format("attempt {} has succeeded in the meantime", status.attempt)};
    reports_.push_back({.key = run.key,
                        .action = decision.action,
                        .attempt = decision.number,
                        .reason = decision.reason,
                        .unreadable = status.unreadable});
    if (decision.action == Action::submitted) prepare(run, decision, status.submission);
    // An earlier submitter may have been killed before it stored the job id.
    else if (decision.action == Action::already_active && status.submission)
      note_id(AttemptFolder(home_.run(run.key), status.attempt), *status.submission);
  }

  // A copy of the replaced attempt may still run on a node that was given up. This fences it off, unless it has just written its
  // result.
  bool has_finished_meanwhile(const std::string& key, const RunStatus& status, int successor) const
  {
    if (status.attempt == 0 || status.verdict.state == RunState::succeeded) return false;
    const AttemptFolder replaced(home_.run(key), status.attempt);
    return !fence(replaced, successor) && read_result(replaced);
  }

  void note_id(const AttemptFolder& attempt, const Submission& submission) const
  {
    if (const auto on_disk = read_submission(attempt); on_disk && on_disk->job_id.empty() && !submission.job_id.empty())
      write_file_quick(attempt.submission(), to_json(submission));
  }

  void prepare(const PlannedRun& run, const Decision& decision, const std::optional<Submission>& last)
  {
    const AttemptFolder attempt(fs::absolute(home_.run(run.key)), decision.number);
    const auto& scheduler = run.spec.resources.scheduler;
    auto request = request_for(run, attempt, decision.token, options_.study);
    request.title = titles_.of(options_.study, run.key);
    if (const auto found = options_.after.job_ids.find(scheduler); found != options_.after.job_ids.end())
      request.after = found->second;
    Submission submission{decision.number, decision.token, scheduler, options_.study, submitted_unix_s_, {}};
    submission.launch_tries = run.spec.resources.launch_tries;
    submission.git_state = options_.git_state ? *options_.git_state : last ? last->git_state : "";
    for (const auto& folder : options_.after.run_folders) submission.after.push_back(folder.string());
    prepared_.push_back({.index = reports_.size() - 1,
                         .run = &run,
                         .request = std::move(request),
                         .submission = std::move(submission),
                         .takes_up = decision.takes_up,
                         .was_deferred = decision.was_deferred,
                         .begins_anew = decision.begins_anew});
  }

  void assign_tokens(Scheduler& scheduler, const std::vector<Prepared*>& jobs) const
  {
    std::vector<JobRequest> requests;
    for (const auto* job : jobs) requests.push_back(job->request);
    scheduler.assign_tokens(requests, options_.rules);
    const auto cluster = scheduler.cluster();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      jobs[i]->submission.cluster = cluster;
      jobs[i]->request.token = requests[i].token;
      jobs[i]->submission.token = requests[i].token;
    }
  }

  // Writes all attempts. Refuses those that could not be written and removes them from `jobs`.
  void write_folders(std::vector<Prepared*>& jobs)
  {
    in_parallel(jobs.size(), [&](std::size_t i) { try_to_write(*jobs[i]); });
    std::optional<Error> failure;
    for (const auto* job : jobs) {
      if (!job->failure) continue;
      if (job->failure->kind() == ErrorKind::environment && !failure) failure = job->failure;
      refuse(*job, job->failure->what());
    }
    std::erase_if(jobs, [](const Prepared* job) { return job->failure.has_value(); });
    if (jobs.empty() && failure) throw Error(*failure);
  }

  void try_to_write(Prepared& job)
  {
    try {
      write_attempt(job);
    } catch (const Error& error) {
      job.failure = error;
    }
  }

  // Repeated submissions of a run keep its key, but may change limits, checkpoints and traces.
  static void write_spec(const PlannedRun& run, const AttemptFolder& attempt)
  {
    const auto path = spec_path(attempt.run_folder());
    is_there(path) ? write_file_quick(path, to_json(run)) : write_new_file_quick(path, to_json(run));
  }

  // A folder that exists and is not taken over may contain the only evidence of a run, so it is not changed.
  static void take_folder(Prepared& job)
  {
    const auto& path = job.request.attempt.path();
    if (!make_folders(path) && !job.takes_up)
      throw Error(ErrorKind::environment, path.string() + " already exists and is not overwritten. Look at its files; dtctl "
                                                          "status prints the state of the run");
    job.owns_folder = true;
  }

  // The intent is written last: an attempt with an intent is complete.
  void write_attempt(Prepared& job)
  {
    const auto& run = *job.run;
    const auto& attempt = job.request.attempt;
    const auto script = batch_script({run, attempt, run.spec.is_simulated() ? options_.simulator : options_.engine,
                                      fs::absolute(home_.data_place(run.spec.data)).string(), options_.agent,
                                      fs::absolute(home_.root()).string()},
                                     *make_launcher(run.spec.resources.launcher));
    programs_.keep(run);
    if (job.begins_anew) forget_kept(attempt);
    if (attempt.number() == 1) make_folders(attempt.run_folder());
    take_folder(job);
    write_spec(run, attempt);
    job.takes_up ? write_file_quick(attempt.script(), script) : scripts_.put(attempt.script(), script);
    job.takes_up ? write_file_quick(attempt.submission(), to_json(job.submission))
                 : write_new_file_quick(attempt.submission(), to_json(job.submission));
  }

  void hand_over_to(Scheduler& scheduler, const std::vector<Prepared*>& jobs)
  {
    if (jobs.empty()) return;
    // After a power cut the queue must not name attempts that were lost, and a run that was reported as submitted must still be
    // there.
    if (scheduler_row(scheduler.name()).keeps_queue_here) sync_filesystem(home_.root());
    std::vector<JobRequest> requests;
    for (const auto* job : jobs) requests.push_back(job->request);
    const auto outcomes = scheduler.submit(requests, options_.rules);
    in_parallel(jobs.size(), [&](std::size_t i) { take_outcome(*jobs[i], outcomes[i]); });
    if (scheduler_row(scheduler.name()).keeps_queue_here) sync_filesystem(home_.root());
  }

  void take_outcome(Prepared& job, const SubmitOutcome& outcome)
  {
    if (outcome.deferred) {
      defer(job, outcome.error);
    } else if (outcome.unanswered) {
      reports_[job.index].action = Action::unanswered;
      reports_[job.index].reason = outcome.error;
    } else if (outcome.job_id.empty()) {
      refuse(job, outcome.error);
    } else {
      accept(job, outcome.job_id);
      reports_[job.index].caution = outcome.caution;
    }
  }

  // The scheduler has the job, so a disk without space for its id must not make it look refused. The token finds the job again.
  void accept(Prepared& job, const std::string& job_id)
  {
    job.submission.job_id = job_id;
    reports_[job.index].submission = job.submission;
    try {
      extend_file_quick(job.request.attempt.submission(), to_json(job.submission));
      std::error_code none;
      if (job.was_deferred) fs::remove(job.request.attempt.deferred(), none);
    } catch (const Error& error) {
      reports_[job.index].reason += std::string("; its job id could not be recorded: ") + error.what();
    }
  }

  // Leaves the attempt and its intent unchanged. deferred.json says why it waits and what its submission requested.
  void defer(const Prepared& job, const std::string& why)
  {
    reports_[job.index].action = Action::deferred;
    reports_[job.index].reason = why;
    write_file_quick(job.request.attempt.deferred(),
                     to_json(Deferral{now_unix_s(), why, options_.rules.max_running, job.request.after}));
  }

  void refuse(const Prepared& job, const std::string& why)
  {
    reports_[job.index].action = Action::refused;
    reports_[job.index].reason = why;
    if (job.owns_folder) remove_refused(job.request.attempt);
  }

  const Home& home_;
  const SubmitOptions& options_;
  double submitted_unix_s_ = now_unix_s(); // of all runs: those of one submission are known by it (jobs/follow/hold_back.hpp)
  RunTitles titles_{home_};
  Scripts scripts_;
  ProgramCopies programs_{home_};
  std::vector<SubmitReport> reports_;
  std::vector<Prepared> prepared_;
  std::map<std::string, std::vector<Prepared*>> groups_; // key: scheduler
  std::unordered_set<std::string> seen_;
};

using Places = std::vector<std::size_t>;

// Indices of the runs by the name of their scheduler.
std::map<std::string, Places> by_scheduler(std::span<const PlannedRun> runs)
{
  std::map<std::string, Places> places;
  for (std::size_t i = 0; i < runs.size(); ++i) places[runs[i].spec.resources.scheduler].push_back(i);
  return places;
}

// Requests that show what the runs need; they are not submitted.
std::vector<JobRequest> requests_for(std::span<const PlannedRun> runs, const Places& members, const Home& home,
                                     const std::string& study)
{
  std::vector<JobRequest> requests;
  for (const auto i : members) requests.push_back(request_for(runs[i], AttemptFolder(home.run(runs[i].key), 1), {}, study));
  return requests;
}

} // namespace

Predecessors find_predecessors(const Home& home, const std::vector<std::string>& keys)
{
  Predecessors found;
  for (const auto& status : reconcile(home, keys)) {
    const auto state = status.verdict.state;
    if (state == RunState::succeeded) continue;
    if (status.unreadable)
      throw Error(ErrorKind::environment,
                  fmt::format("Run {} must come first, but its files cannot be read: {}; nothing was submitted",
                              short_key(status.key), status.verdict.cause));
    if (status.is_deferred)
      throw Error(ErrorKind::usage,
                  fmt::format("Run {} must come first, but it is {}; nothing was submitted. Submit again when it is "
                              "in its scheduler's queue (dtctl status submits it when there is room).",
                              short_key(status.key), status.verdict.cause));
    if (is_final(state) || state == RunState::planned)
      throw Error(ErrorKind::usage,
                  fmt::format("Run {} must come first, but {}; nothing was submitted. Run it again first: dtctl retry {}",
                              short_key(status.key),
                              state == RunState::planned ? "it was never submitted" : "its " + outcome_words(status),
                              short_key(status.key)));
    found.run_folders.push_back(fs::absolute(home.run(status.key)));
    if (status.submission && !status.submission->job_id.empty())
      found.job_ids[status.submission->scheduler].push_back(status.submission->job_id);
  }
  return found;
}

void remove_refused(const AttemptFolder& attempt)
{
  std::error_code error;
  fs::remove_all(attempt.path(), error);
  // rmdir fails if there are other attempts.
  const bool was_last = attempt.number() == 1 && ::rmdir(attempt.path().parent_path().c_str()) == 0;
  if (!was_last) return;
  fs::remove(spec_path(attempt.run_folder()), error);
  fs::remove(attempt.run_folder(), error); // fails if the folder contains anything else
}

std::vector<std::string> known_refusals(std::span<const PlannedRun> runs)
{
  std::vector<std::string> refusals(runs.size());
  for (const auto& [name, members] : by_scheduler(runs)) {
    const auto reasons = scheduler_kind(name).refusals(requests_for(runs, members, Home(""), {}));
    for (std::size_t k = 0; k < members.size(); ++k) refusals[members[k]] = reasons[k];
  }
  return refusals;
}

std::vector<std::string> misfits(const Home& home, std::span<const PlannedRun> runs, const std::string& study)
{
  std::vector<std::string> found(runs.size());
  for (const auto& [name, members] : by_scheduler(runs)) {
    if (!scheduler_row(name).serves_other_users) continue;
    const auto reasons = scheduler_kind(name).open(home)->misfits(requests_for(runs, members, home, study));
    for (std::size_t k = 0; k < members.size(); ++k) found[members[k]] = reasons[k];
  }
  return found;
}

std::vector<SubmitReport> submit_runs(const LockedHome& home, std::span<const PlannedRun> runs, const SubmitOptions& options)
{
  make_folders(home.runs());
  return Submitter(home, options).run(runs);
}

} // namespace dt::jobs
