#include "jobs/submit.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/run_key.hpp"
#include "core/units.hpp"
#include "jobs/attempt_files.hpp"
#include "jobs/batch_script.hpp"
#include "jobs/quick_file.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>
#include <unistd.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;
using Action = SubmitReport::Action;

// What to do about one run: `number` is the attempt to submit when the action is `submitted`.
struct Decision {
  Action action = Action::submitted;
  int number = 0;
  std::string token; // of an intent to take up again; empty: a new one
  std::string reason;
};

std::string outcome_words(const RunStatus& status)
{
  return fmt::format("attempt {} {}{}", status.attempt,
                     status.verdict.state == RunState::failed ? "failed" : "is " + std::string(name_of(status.verdict.state)),
                     status.verdict.cause.empty() ? "" : ": " + status.verdict.cause);
}

// An intent without an id of which no scheduler knows: nothing was started for it, so the same attempt is taken up again.
bool is_open_intent(const RunStatus& status)
{
  const auto state = status.verdict.state;
  return status.submission && status.submission->job_id.empty() && (state == RunState::submitted || state == RunState::lost) &&
         !status.begin;
}

Decision next_attempt(const RunStatus& status, const std::string& why)
{
  return {Action::submitted, status.attempt + 1, {}, why};
}

Decision decide(const RunStatus& status, const SubmitOptions& options, const fs::path& run_folder)
{
  const auto state = status.verdict.state;
  if (status.attempts == 0) return {Action::submitted, 1, {}, "it has never run"};
  if (!status.submission)
    return {Action::submitted, attempt_numbers(run_folder).back(), {}, "an earlier submission was interrupted"};
  if (is_open_intent(status))
    return {Action::submitted, status.attempt, status.submission->token, "an earlier submission was interrupted"};
  if (state == RunState::succeeded && options.force) return next_attempt(status, "it has succeeded and is run again by force");
  if (state == RunState::succeeded)
    return {Action::already_done, status.attempt, {}, fmt::format("attempt {} succeeded", status.attempt)};
  if (!is_final(state)) return {Action::already_active, status.attempt, {}, outcome_words(status)};
  if (!options.retry_failed) return {Action::left_failed, status.attempt, {}, outcome_words(status)};
  return next_attempt(status, outcome_words(status));
}

// An attempt that is to be submitted; its folder is written when its token is known.
struct Prepared {
  std::size_t index; // of the report
  const PlannedRun* run;
  JobRequest request;
  Submission submission;
  std::optional<Error> failure; // of writing its folder
};

// What has to be over and well before the new jobs may start.
struct Predecessors {
  std::vector<std::filesystem::path> run_folders;
  std::map<std::string, std::vector<std::string>> job_ids; // by scheduler
};

Predecessors find_predecessors(const Home& home, const std::vector<std::string>& keys)
{
  Predecessors found;
  for (const auto& status : reconcile(home, keys)) {
    const auto state = status.verdict.state;
    if (state == RunState::succeeded) continue;
    if (is_final(state) || state == RunState::planned)
      throw Error(ErrorKind::usage, fmt::format("Run {} is to come first, but {}; nothing was submitted. See to it first: dtctl retry {}",
                                                short_key(status.key), state == RunState::planned ? "it was never submitted" : "its " + outcome_words(status),
                                                short_key(status.key)));
    found.run_folders.push_back(fs::absolute(home.run(status.key)));
    if (status.submission && !status.submission->job_id.empty())
      found.job_ids[status.submission->scheduler].push_back(status.submission->job_id);
  }
  return found;
}

// Runs of one sweep have the same script, byte for byte: it is written once and linked from then on, which costs no inode.
class Scripts {
 public:
  void put(const fs::path& path, const std::string& text)
  {
    const std::lock_guard lock(mutex_);
    const auto [first, is_new] = first_.try_emplace(text, path);
    if (!is_new && ::link(first->second.c_str(), path.c_str()) == 0) return;
    write_new_file_quick(path, text); // the file system has no links, or no more for this file
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
    predecessors_ = find_predecessors(home_, options_.after);
    const auto statuses = reconcile(home_, keys);
    for (std::size_t i = 0; i < runs.size(); ++i) consider(runs[i], statuses[i]);
    for (auto& job : prepared_) groups_[job.submission.scheduler].push_back(&job);
    for (auto& [name, jobs] : groups_) {
      const auto scheduler = make_scheduler(name, home_);
      assign_tokens(*scheduler, jobs);
      write_folders(jobs);
      hand_over_to(*scheduler, jobs);
    }
    return std::move(reports_);
  }

 private:
  void consider(const PlannedRun& run, const RunStatus& status)
  {
    auto decision = decide(status, options_, home_.run(run.key));
    if (!seen_.insert(run.key).second) decision = {Action::already_active, decision.number, {}, "it was asked for twice"};
    if (decision.action == Action::submitted && decision.number > status.attempt && has_finished_meanwhile(run.key, status, decision.number))
      decision = {Action::already_done, status.attempt, {}, fmt::format("attempt {} has succeeded meanwhile", status.attempt)};
    reports_.push_back({.key = run.key, .action = decision.action, .attempt = decision.number, .reason = decision.reason});
    if (decision.action == Action::submitted) prepare(run, decision);
    // A killed submitter may have left before it wrote down the id it was given.
    else if (decision.action == Action::already_active && status.submission)
      note_id(AttemptFolder(home_.run(run.key), status.attempt), *status.submission);
  }

  // A copy of the attempt that is replaced may still run on a node that was given up: it is fenced off, unless it just made it.
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

  void prepare(const PlannedRun& run, const Decision& decision)
  {
    const AttemptFolder attempt(fs::absolute(home_.run(run.key)), decision.number);
    const auto& scheduler = run.spec.resources.scheduler;
    JobRequest request{run.key, decision.token, attempt, run.spec.resources};
    request.progress_threads = run.spec.progress_threads();
    if (run.spec.study.layout == "ladder") request.ladder = options_.study;
    request.after = predecessors_.job_ids[scheduler];
    Submission submission{decision.number, decision.token, scheduler, options_.study, now_unix_s(), {}};
    prepared_.push_back({reports_.size() - 1, &run, std::move(request), std::move(submission), std::nullopt});
  }

  void assign_tokens(Scheduler& scheduler, const std::vector<Prepared*>& jobs) const
  {
    std::vector<JobRequest> requests;
    for (const auto* job : jobs) requests.push_back(job->request);
    scheduler.assign_tokens(requests, options_.rules);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      jobs[i]->request.token = requests[i].token;
      jobs[i]->submission.token = requests[i].token;
    }
  }

  // Whole attempts in, those that the disk refused out.
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
      write_attempt(*job.run, job.request.attempt, job.submission);
    } catch (const Error& error) {
      job.failure = error;
    }
  }

  // Made again, a run keeps its key and may have other limits, checkpoints, traces.
  static void write_spec(const PlannedRun& run, const AttemptFolder& attempt)
  {
    const auto path = spec_path(attempt.run_folder());
    const bool is_new = attempt.number() == 1 || !fs::exists(path);
    is_new ? write_new_file_quick(path, to_json(run)) : write_file_quick(path, to_json(run));
  }

  // The intent comes last: what has one is whole.
  void write_attempt(const PlannedRun& run, const AttemptFolder& attempt, const Submission& intent)
  {
    const auto script = batch_script({run, attempt, options_.engine, fs::absolute(home_.data_folder(run.spec.data)).string(),
                                      predecessors_.run_folders},
                                     *make_launcher(run.spec.resources.launcher));
    if (attempt.number() == 1) make_folders_quick(attempt.run_folder());
    make_folders_quick(attempt.path());
    write_spec(run, attempt);
    scripts_.put(attempt.script(), script);
    write_new_file_quick(attempt.submission(), to_json(intent));
  }

  void hand_over_to(Scheduler& scheduler, const std::vector<Prepared*>& jobs)
  {
    if (jobs.empty()) return;
    // A queue that survives a power cut must not name attempts that did not; and what is reported as submitted must stay so.
    if (scheduler.keeps_queue_here()) sync_filesystem(home_.root());
    std::vector<JobRequest> requests;
    for (const auto* job : jobs) requests.push_back(job->request);
    const auto outcomes = scheduler.submit(requests, options_.rules);
    in_parallel(jobs.size(), [&](std::size_t i) { take_outcome(*jobs[i], outcomes[i]); });
    if (scheduler.keeps_queue_here()) sync_filesystem(home_.root());
  }

  void take_outcome(Prepared& job, const SubmitOutcome& outcome)
  {
    if (outcome.unanswered) {
      reports_[job.index].action = Action::unanswered;
      reports_[job.index].reason = outcome.error;
    } else if (outcome.job_id.empty()) {
      refuse(job, outcome.error);
    } else {
      accept(job, outcome.job_id);
    }
  }

  // The job is in: a disk without room for its id must not make it look refused. The token finds it again.
  void accept(Prepared& job, const std::string& job_id)
  {
    job.submission.job_id = job_id;
    reports_[job.index].submission = job.submission;
    try {
      extend_file_quick(job.request.attempt.submission(), to_json(job.submission));
    } catch (const Error& error) {
      reports_[job.index].reason += std::string("; its number could not be written down: ") + error.what();
    }
  }

  // Nothing was started, so nothing is kept: the run is as if it had not been asked for.
  void refuse(const Prepared& job, const std::string& why)
  {
    reports_[job.index].action = Action::refused;
    reports_[job.index].reason = why;
    const auto& attempt = job.request.attempt;
    std::error_code error;
    fs::remove_all(attempt.number() == 1 ? attempt.run_folder() : attempt.path(), error);
  }

  const Home& home_;
  const SubmitOptions& options_;
  Predecessors predecessors_;
  Scripts scripts_;
  std::vector<SubmitReport> reports_;
  std::vector<Prepared> prepared_;
  std::map<std::string, std::vector<Prepared*>> groups_; // by scheduler
  std::unordered_set<std::string> seen_;
};

} // namespace

std::vector<SubmitReport> submit_runs(const Home& home, std::span<const PlannedRun> runs, const SubmitOptions& options)
{
  make_folders(home.runs());
  // One submitter at a time, from the look at what there is to the last id.
  const auto lock = FileLock::acquire(home.root() / "submit.lock");
  return Submitter(home, options).run(runs);
}

} // namespace dt::jobs
