#include "jobs/submit.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/units.hpp"
#include "jobs/batch_script.hpp"
#include "jobs/quick_file.hpp"

#include <map>
#include <optional>
#include <random>
#include <unordered_set>

#include <fmt/format.h>

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

// An attempt with its intent on disk.
struct Prepared {
  std::size_t index; // of the report
  JobRequest request;
  Submission submission;
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
    if (prepared_.empty() && failure_) throw Error(*failure_);
    if (!prepared_.empty()) hand_over();
    return std::move(reports_);
  }

 private:
  void consider(const PlannedRun& run, const RunStatus& status)
  {
    auto decision = decide(status, options_, home_.run(run.key));
    if (!seen_.insert(run.key).second) decision = {Action::already_active, decision.number, {}, "it was asked for twice"};
    reports_.push_back({run.key, decision.action, decision.number, decision.reason});
    if (decision.action == Action::submitted) prepare(run, decision);
    // A killed submitter may have left before it wrote down the id it was given.
    else if (decision.action == Action::already_active && status.submission)
      note_id(AttemptFolder(home_.run(run.key), status.attempt), *status.submission);
  }

  void note_id(const AttemptFolder& attempt, const Submission& submission) const
  {
    if (const auto on_disk = read_submission(attempt); on_disk && on_disk->job_id.empty() && !submission.job_id.empty())
      write_file_quick(attempt.submission(), to_json(submission));
  }

  void prepare(const PlannedRun& run, const Decision& decision)
  {
    const AttemptFolder attempt(fs::absolute(home_.run(run.key)), decision.number);
    Submission submission{decision.number,
                          decision.token.empty() ? random_token() : decision.token,
                          run.spec.resources.scheduler,
                          options_.study,
                          now_unix_s(),
                          {}};
    try {
      write_attempt(run, attempt, submission);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::environment && !failure_) failure_ = error;
      return refuse(reports_.size() - 1, attempt, error.what());
    }
    prepared_.push_back({reports_.size() - 1, {run.key, submission.token, attempt, run.spec.resources}, std::move(submission)});
  }

  // The intent comes last: what has one is whole.
  void write_attempt(const PlannedRun& run, const AttemptFolder& attempt, const Submission& intent) const
  {
    const auto script = batch_script({run, attempt, options_.engine, fs::absolute(home_.data_folder(run.spec.data)).string()},
                                     *make_launcher(run.spec.resources.launcher));
    make_folders(attempt.path());
    if (const auto spec = spec_path(attempt.run_folder()); !fs::exists(spec)) write_file_quick(spec, to_json(run));
    write_file_quick(attempt.script(), script);
    write_file_quick(attempt.submission(), to_json(intent));
  }

  void hand_over()
  {
    std::map<std::string, std::vector<Prepared*>> groups;
    for (auto& job : prepared_) groups[job.submission.scheduler].push_back(&job);
    // A queue that survives a power cut must not name attempts that did not; and what is reported as submitted must stay so.
    sync_filesystem(home_.root());
    for (const auto& [name, jobs] : groups) hand_over_to(*make_scheduler(name, home_), jobs);
    sync_filesystem(home_.root());
  }

  void hand_over_to(Scheduler& scheduler, const std::vector<Prepared*>& jobs)
  {
    std::vector<JobRequest> requests;
    for (const auto* job : jobs) requests.push_back(job->request);
    const auto outcomes = scheduler.submit(requests, {});
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (outcomes[i].job_id.empty())
        refuse(jobs[i]->index, jobs[i]->request.attempt, outcomes[i].error);
      else
        accept(*jobs[i], outcomes[i].job_id);
    }
  }

  // The job is in: a disk without room for its id must not make it look refused. The token finds it again.
  void accept(Prepared& job, const std::string& job_id)
  {
    job.submission.job_id = job_id;
    try {
      write_file_quick(job.request.attempt.submission(), to_json(job.submission));
    } catch (const Error& error) {
      reports_[job.index].reason += std::string("; its number could not be written down: ") + error.what();
    }
  }

  // Nothing was started, so nothing is kept: the run is as if it had not been asked for.
  void refuse(std::size_t index, const AttemptFolder& attempt, const std::string& why)
  {
    reports_[index].action = Action::refused;
    reports_[index].reason = why;
    std::error_code error;
    fs::remove_all(attempt.number() == 1 ? attempt.run_folder() : attempt.path(), error);
  }

  const Home& home_;
  const SubmitOptions& options_;
  std::vector<SubmitReport> reports_;
  std::vector<Prepared> prepared_;
  std::unordered_set<std::string> seen_;
  std::optional<Error> failure_;
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
