#include "jobs/agent/batch_job.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/record/attempt/attempt_writer.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/agent/attempt_job.hpp"
#include "jobs/agent/own_processes.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/machine/quick_file.hpp"
#include "jobs/registry/schedulers.hpp"
#include "jobs/scheduler/batch.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt::jobs::agent {
namespace {

// Finds and claims the attempt that a job of a cluster is to run, so that each attempt is started at most once.
//
//   - The first claim of an attempt wins (owner.json, created exclusively). A second job for the same attempt finds it and
//   leaves.
//   - If the scheduler has restarted the job (same job id, a higher restart count than the owner's), the job makes the next
//   attempt: it
//     fences the earlier one off (result.json with "fenced_by", created exclusively) and renames a complete, claimed folder into
//     place. It stops if it finds a result, or a next attempt that somebody else made.

// This start of this job, as its scheduler tells it.
struct JobIdentity {
  std::string job_id; // "7", or "7_3" for task 3 of an array
  int restart = 0;    // how often the scheduler had started this job before
  bool is_ladder = false;
};

namespace fs = std::filesystem;

AttemptFolder next_of(const AttemptFolder& attempt) { return {attempt.run_folder(), attempt.number() + 1}; }

// Files that were written before the job was submitted may reach this node later than the job, on a file system that the network
// carries. An NFS client believes for 30 s that a file is not there.
constexpr double late_files_s = 30;

// A withdrawn attempt, or one that was made again for another submission, must not be run.
bool is_made_for(const AttemptFolder& attempt, const std::string& token)
{
  const auto submission = read_submission(attempt);
  return submission && submission->token == token && is_there(attempt.script());
}

bool is_earlier_self(const Owner& owner, const std::string& token, const JobIdentity& self)
{
  return owner.token == token && owner.job_id == self.job_id && owner.restart < self.restart;
}

Error cannot_be(const AttemptFolder& attempt, const std::string& what, const Error& cause)
{
  return {ErrorKind::environment,
          fmt::format("{} cannot be {} (is the disk full or read-only?): {}", attempt.path().string(), what, cause.what())};
}

bool claim_or_throw(const AttemptFolder& attempt, const Owner& owner)
{
  try {
    return claim(attempt, owner);
  } catch (const Error& error) {
    throw cannot_be(attempt, "claimed", error);
  }
}

void fence_or_throw(const AttemptFolder& attempt, int successor)
{
  try {
    fence(attempt, successor);
  } catch (const Error& error) {
    throw cannot_be(attempt, "fenced off", error);
  }
}

// Removes the folder, unless it was renamed.
class NewFolder {
 public:
  explicit NewFolder(fs::path path) : path_(std::move(path))
  {
    if (::mkdir(path_.c_str(), 0700) != 0) throw system_error("make " + path_.string(), errno);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder()
  {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  const fs::path& path() const { return path_; }
  // Returns false if something is there already.
  bool rename_to(const fs::path& target) const
  {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) return true;
    // NFS does not know the flag. A plain rename replaces an empty folder only.
    if (errno == EINVAL && !is_there(target) && std::rename(path_.c_str(), target.c_str()) == 0) return true;
    if (errno == EEXIST || errno == ENOTEMPTY || is_there(target)) return false;
    throw system_error("rename to " + target.string(), errno);
  }

 private:
  fs::path path_;
};

// Puts attempt `next` into place: the script and the intent of `attempt`, claimed by this process. Returns false if it is there
// already.
bool make_next(const AttemptFolder& attempt, const AttemptFolder& next, const Owner& self)
{
  auto submission = read_submission(attempt);
  if (!submission) throw Error(ErrorKind::environment, attempt.submission().string() + " cannot be read");
  submission->attempt = next.number();
  submission->restart = self.restart;
  const auto parent = next.path().parent_path();
  const NewFolder folder(parent / fmt::format(".next.{}.{}", host_name(), ::getpid()));
  write_file_atomic(folder.path() / attempt.script().filename(), read_file(attempt.script()));
  write_file_atomic(folder.path() / attempt.submission().filename(), to_json(*submission));
  create_file_exclusive(folder.path() / attempt.owner().filename(), to_json(self));
  if (!folder.rename_to(next.path())) return false;
  sync_folder(parent);
  return true;
}

bool make_next_or_throw(const AttemptFolder& attempt, const AttemptFolder& next, const Owner& self)
{
  try {
    return make_next(attempt, next, self);
  } catch (const Error& error) {
    throw cannot_be(next, "made", error);
  }
}

class Takeover {
 public:
  Takeover(std::string token, const JobIdentity& self, const std::function<void(const std::string&)>& say)
      : token_(std::move(token)), self_(self), say_(say)
  {
  }

  std::optional<AttemptFolder> from(AttemptFolder attempt) const
  {
    for (;;) {
      if (!is_made_for(attempt, token_)) return leave(attempt, "is not there for " + token_ + " any more: nothing is run");
      if (is_there(attempt.cancel())) return leave(attempt, "was cancelled: nothing is run");
      const auto outcome = read_outcome(attempt);
      if (outcome.result) return leave(attempt, "has a result: nothing is left to do");
      if (!outcome.fenced_by && !read_owner(attempt) && claim_or_throw(attempt, me())) return own(attempt);
      const auto owner = read_owner(attempt);
      if (!owner) return leave(attempt, "was fenced off before it began: nothing is run");
      if (!is_earlier_self(*owner, token_, self_)) return leave(attempt, "is somebody else's: nothing is run");
      if (self_.is_ladder && has_ended_by_itself(attempt)) return leave(attempt, "has ended by itself: nothing is run");
      const auto next = next_of(attempt);
      if (is_there(next.path())) {
        attempt = next;
        continue;
      }
      fence_or_throw(attempt, next.number());
      if (read_outcome(attempt).result) continue; // it came in before the fence
      if (make_next_or_throw(attempt, next, me())) return take_over(attempt, next);
    }
  }

 private:
  Owner me() const { return own_identity(token_, self_.job_id, self_.restart); }

  std::nullopt_t leave(const AttemptFolder& attempt, const std::string& why) const
  {
    say_(attempt.path().string() + " " + why);
    return std::nullopt;
  }

  static AttemptFolder own(const AttemptFolder& attempt)
  {
    fs::remove(attempt.stop_reason()); // of a start that was stopped before this attempt's turn
    return attempt;
  }

  AttemptFolder take_over(const AttemptFolder& attempt, const AttemptFolder& next) const
  {
    say_(attempt.path().string() + " is fenced off; " + next.path().string() + " takes its place");
    return next;
  }

  // A ladder's run that was not cut off: it ended, or reached its own time limit and may not be started again for that.
  static bool has_ended_by_itself(const AttemptFolder& attempt) { return is_there(attempt.end()) && !was_cut_off(attempt); }

  std::string token_;
  const JobIdentity& self_;
  const std::function<void(const std::string&)>& say_;
};

// From attempt `first` of `token` on: the attempt that the caller now owns, or nothing if there is nothing to run; `say` gets one
// sentence about it. Throws an environment error if the attempt cannot be claimed or replaced (the disk is full or read-only).
std::optional<AttemptFolder> take_attempt(const AttemptFolder& first, const std::string& token, const JobIdentity& self,
                                          const std::function<void(const std::string&)>& say)
{
  return Takeover(token, self, say).from(first);
}

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

  std::vector<std::string> task_lines()
  {
    await_file(tasks_path());
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

  // Waits for a file that this job needs; all waits together last `late_files_s`, and a signal ends them.
  void await_file(const std::filesystem::path& file)
  {
    if (is_there(file)) return;
    say(file.string() + " is not there yet: waits for it");
    while (!is_there(file) && Clock::now() - begin_ < std::chrono::duration<double>(late_files_s))
      if (const auto signal = next_signal_within(0.2)) return note(*signal);
    if (is_there(file)) say(file.string() + " has arrived");
  }

  bool is_mine(const BatchTask& task) const { return terms_.is_ladder || !facts_.task || *facts_.task == task.index; }

  // ---- one run ---------------------------------------------------------------------------------------------------------

  void run_task(const BatchTask& task)
  {
    const AttemptFolder first(task.attempt);
    await_file(first.submission());
    while (const auto signal = inbox_.next()) note(*signal);
    if (stop_) return skip(first);
    if (!is_there(first.submission())) return miss(first);
    const auto attempt = take_attempt(first, task.token, self_, [&](const std::string& what) { say(what); });
    if (!attempt) return;
    const int code = run_taken(*attempt, task);
    if (first_failure_ == 0) first_failure_ = code;
  }

  // The runs of a ladder that are there are run all the same.
  void miss(const AttemptFolder& attempt)
  {
    say(fmt::format("{} is not there on {}: nothing is run. Its run was removed, or the home was moved or is not mounted here",
                    attempt.submission().string(), host_name()));
    if (first_failure_ == 0) first_failure_ = static_cast<int>(ExitCode::environment);
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
      if (signal != SIGUSR1 || terms_.is_ladder) return;
      const auto changed = is_near(limit) ? std::nullopt : step_->time_limit_s();
      if (is_near(changed.value_or(limit))) write_stop_reason(attempt, {StopKind::time_limit, {}, RunState::timed_out, changed});
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
      write_stop_reason(attempt, {StopKind::not_started,
                                  fmt::format("its job was told to stop by {} before its turn came", signal_name(*stop_))});
    }
  }

  // Asks until the scheduler has decided, or the job is being ended.
  void ask_for_requeue()
  {
    RequeueAnswer answer;
    for (double pause_s = 1;; pause_s = std::min(2 * pause_s, 10.0)) {
      const auto last = std::exchange(answer, step_->ask_for_requeue());
      if (answer.words != last.words) note_answer(answer.words);
      if (answer.is_final || is_ended_within(pause_s)) break;
    }
    if (answer.words == accepted_answer) return;
    // In a ladder the marker stays: it says that the run was cut off, should the scheduler start the job again by itself.
    std::error_code none;
    if (!terms_.is_ladder) std::filesystem::remove(asks_again_->requeue(), none);
  }

  void note_answer(const std::string& words) const
  {
    say("asked to start this job again: " + words);
    try {
      record_wish(*asks_again_, {now_unix_s(), std::string(requeue_verb), words});
    } catch (const Error& error) {
      say(error.what());
    }
  }

  // Whether SIGTERM comes before that time is over: by scancel, or at the job's time limit.
  bool is_ended_within(double seconds)
  {
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < until)
      if (next_signal_within(0.2) == SIGTERM) return true;
    return false;
  }

  // Waits for a signal that asks this job to stop. Returns nullopt if none has come after `seconds`.
  std::optional<int> next_signal_within(double seconds)
  {
    pollfd source{inbox_.descriptor(), POLLIN, 0};
    ::poll(&source, 1, static_cast<int>(seconds * 1000));
    return inbox_.next();
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
