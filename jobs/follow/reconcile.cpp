#include "jobs/follow/reconcile.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/record/attempt/attempt_writer.hpp"
#include "core/record/attempt/batch_token.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/spec/secrets.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/machine/in_parallel.hpp"
#include "jobs/machine/quick_file.hpp"
#include "jobs/registry/schedulers.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr std::size_t log_tail_bytes = 8192;
constexpr std::size_t stderr_tail_bytes = 65536; // a traceback of each of many ranks, and what their libraries say after it
constexpr std::size_t stdout_tail_bytes = 16384; // a launcher's report of each of many ranks

constexpr std::array files_of_every_verdict{AttemptFile::end,       AttemptFile::result,   AttemptFile::begin,
                                            AttemptFile::heartbeat, AttemptFile::cancel,   AttemptFile::launches,
                                            AttemptFile::deferred,  AttemptFile::preempted};
constexpr std::array files_without_result{AttemptFile::requeue,     AttemptFile::stall, AttemptFile::error,
                                          AttemptFile::stop_reason, AttemptFile::asked, AttemptFile::cause};

// On a full disk, the space that the ranks reserved for their end may be used: they have ended. If the home cannot be written at
// all, a later call asks the scheduler again.
void create_stop_reason(const AttemptFolder& attempt, const StopReason& reason)
{
  const auto is_written = [&] {
    try {
      create_file_quick(attempt.stop_reason(), reason.line() + "\n");
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  std::error_code none;
  if (!is_written() && std::filesystem::remove(attempt.reserve(), none)) is_written();
}

// Stores the scheduler's outcome, because the scheduler forgets its jobs while the verdict must not change.
void keep_outcome(const AttemptFolder& attempt, Evidence& evidence)
{
  const auto& job = evidence.job;
  if (job.state != JobStatus::State::ended || !job.outcome || evidence.has_result || evidence.stop_reason) return;
  evidence.stop_reason = StopReason{StopKind::scheduler, printable(job.cause), *job.outcome};
  create_stop_reason(attempt, *evidence.stop_reason);
}

// Stores the verdict that rests on the scheduler's word alone: a job that ended and left no end. Otherwise the run would be lost
// as soon as the scheduler has forgotten the job.
void keep_failure(const AttemptFolder& attempt, const Evidence& evidence, const Verdict& verdict)
{
  const bool rests_on_scheduler = evidence.job.state == JobStatus::State::ended && !evidence.end && !evidence.has_result;
  if (!rests_on_scheduler || verdict.state != RunState::failed || evidence.stop_reason) return;
  create_stop_reason(attempt, {StopKind::scheduler, printable(verdict.cause), verdict.state});
}

// Records that the scheduler no longer holds a job whose ranks have ended. From now on the end is final, even if the scheduler
// cannot be reached.
void keep_settled(const AttemptFolder& attempt, const Evidence& evidence)
{
  const auto state = evidence.job.state;
  if (!evidence.end || evidence.has_result || !scheduler_row(evidence.submission->scheduler).restarts_jobs) return;
  if (state != JobStatus::State::ended && state != JobStatus::State::not_found) return;
  if (is_there(attempt.settled())) return;
  try {
    const auto& native = evidence.job.native_state;
    create_file_quick(attempt.settled(),
                      fmt::format("{} {:.3f}\n", native.empty() ? "NOT_FOUND" : printable(native), now_unix_s()));
  } catch (const Error&) { // the home cannot be written now; a later call asks the scheduler again
  }
}

struct EarlierResult {
  int attempt = 0;
  RunResult result;
};

// The result of the newest attempt before attempt `last` that has one.
std::optional<EarlierResult> earlier_result(const std::filesystem::path& run_folder, int last)
{
  const auto numbers = attempt_numbers(run_folder);
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    if (*number >= last) continue;
    if (auto result = read_result(AttemptFolder(run_folder, *number))) return EarlierResult{*number, std::move(*result)};
  }
  return std::nullopt;
}

// If a forced new attempt is cancelled, the result of an earlier attempt still counts.
void keep_earlier_result(const std::filesystem::path& run_folder, RunStatus& status)
{
  if (status.verdict.state != RunState::cancelled) return;
  const auto earlier = earlier_result(run_folder, status.attempt);
  if (!earlier) return;
  const auto& [number, result] = *earlier;
  const bool has_diverged = !result.divergence.empty();
  status.verdict = {RunState::succeeded,
                    (has_diverged ? std::string(diverged_word) + result.divergence + "; " : "") +
                        fmt::format("attempt {} has the result; attempt {} was {}", number, status.attempt, status.verdict.cause),
                    fmt::format("result.json of attempt {}", number), 0, false};
  status.attempt = number;
}

RunStatus unreadable_status(const LatestAttempt& latest, const std::string& why)
{
  RunStatus status;
  status.key = latest.key;
  status.attempts = latest.attempts;
  if (latest.folder) status.attempt = status.newest_attempt = latest.folder->number();
  status.submission = latest.record.submission;
  status.verdict = {RunState::unknown, printable(why), "unreadable", std::nullopt, false};
  status.unreadable = true;
  return status;
}

// Whether its cluster must be asked again to end a job: nobody has asked, the answer was no, or the job lives on all the same.
bool is_cancel_open(const Evidence& evidence, const Verdict& verdict, double now)
{
  constexpr double patience_s = 60; // for the end of processes and the epilog
  const auto state = evidence.job.state;
  const bool lives = state == JobStatus::State::queued || state == JobStatus::State::running;
  if (!evidence.cancel || is_final(verdict.state) || !lives) return false;
  if (!scheduler_row(evidence.submission->scheduler).restarts_jobs) return false;
  const auto wish =
      std::find_if(evidence.wishes.rbegin(), evidence.wishes.rend(), [](const Wish& one) { return one.verb == cancel_verb; });
  if (wish == evidence.wishes.rend() || wish->answer != accepted_answer) return true;
  return !is_of_ladder(evidence.submission->token) && now - wish->unix_s > patience_s;
}

RunStatus status_of(LatestAttempt& latest, const JobStatus& job, double now)
{
  RunStatus status;
  status.key = latest.key;
  status.attempts = latest.attempts;
  if (latest.folder) status.newest_attempt = latest.folder->number();
  if (!latest.record.submission) {
    status.verdict = judge({}, now);
    return status;
  }
  auto evidence = evidence_of(*latest.reader, latest.record, job);
  keep_outcome(*latest.folder, evidence);
  keep_settled(*latest.folder, evidence);
  status.attempt = status.newest_attempt;
  status.verdict = judge(evidence, now);
  keep_failure(*latest.folder, evidence, status.verdict);
  keep_earlier_result(latest.folder->run_folder(), status);
  status.submission = evidence.submission;
  if (status.submission->job_id.empty()) status.submission->job_id = job.job_id;
  status.begin = evidence.begin;
  status.heartbeat = evidence.heartbeat;
  status.job = job;
  status.preemption = evidence.preemption;
  status.launches = static_cast<int>(evidence.launches.size());
  status.asks_again_to_end = is_cancel_open(evidence, status.verdict, now);
  status.is_deferred = evidence.deferral && status.verdict.state == RunState::planned;
  return status;
}

RunStatus status_or_trouble(LatestAttempt& latest, const JobStatus& job, double now)
{
  if (!latest.unreadable.empty()) return unreadable_status(latest, latest.unreadable);
  try {
    auto status = status_of(latest, job, now);
    // They quote what the program printed. The database keeps them.
    for (auto* text : {&status.verdict.cause, &status.verdict.evidence}) *text = without_secrets(std::string_view(*text));
    return status;
  } catch (const Error& error) {
    return unreadable_status(latest, error.what());
  }
}

// Writes the scheduler's answer into the attempts. Where that fails, the next `status` asks the scheduler again.
void record_cancel_answer(const std::vector<JobHandle>& handles, const std::string& answer)
{
  for (const auto& handle : handles) {
    try {
      record_wish(handle.attempt, {now_unix_s(), std::string(cancel_verb), answer});
    } catch (const Error&) { // the home cannot be written
    }
  }
}

// Asks the scheduler to end the jobs, and records its answer. Throws a scheduler error.
void ask_to_end(Scheduler& scheduler, const std::vector<JobHandle>& handles)
{
  const bool is_cluster = scheduler_row(scheduler.name()).restarts_jobs;
  try {
    scheduler.cancel(handles);
  } catch (const Error& error) {
    if (is_cluster) record_cancel_answer(handles, error.what());
    throw;
  }
  if (is_cluster) record_cancel_answer(handles, std::string(accepted_answer));
}

// Cancellations that did not reach their cluster.
void ask_again_to_end(const Home& home, std::vector<LatestAttempt>& latest, const std::vector<JobStatus>& jobs,
                      std::vector<RunStatus>& statuses)
{
  std::map<std::string, std::vector<std::size_t>> open;
  for (std::size_t i = 0; i < latest.size(); ++i)
    if (statuses[i].asks_again_to_end) open[latest[i].record.submission->scheduler].push_back(i);
  for (const auto& [name, members] : open) {
    std::vector<JobHandle> handles;
    for (const auto i : members) handles.push_back(handle_of(latest[i]));
    try {
      ask_to_end(*scheduler_kind(name).open(home), handles);
    } catch (const Error&) { // the answer is recorded and shown
    }
    for (const auto i : members) {
      latest[i].reader->list_again();
      statuses[i] = status_or_trouble(latest[i], jobs[i], now_unix_s());
    }
  }
}

using Jobs = std::vector<JobStatus>;

// Statuses of jobs whose scheduler cannot be reached: unknown.
Jobs unreachable(const std::vector<JobHandle>& handles, const std::string& why)
{
  return Jobs(handles.size(), {JobStatus::State::unknown, std::string(unreachable_state), why, std::nullopt, {}});
}

// Asks each scheduler once.
Jobs ask_schedulers(const Home& home, const std::vector<LatestAttempt>& latest, std::vector<std::string>* troubles)
{
  Jobs statuses(latest.size());
  for (const auto& [name, members] : open_by_scheduler(latest)) {
    std::vector<JobHandle> handles;
    for (const auto i : members) handles.push_back(handle_of(latest[i]));
    Jobs answers;
    try {
      answers = scheduler_kind(name).open(home)->poll(handles);
    } catch (const Error& error) {
      if (troubles == nullptr || error.kind() != ErrorKind::scheduler) throw;
      troubles->emplace_back(error.what());
      answers = unreachable(handles, error.what());
    }
    for (std::size_t k = 0; k < members.size(); ++k) statuses[members[k]] = answers[k];
  }
  return statuses;
}

// Keys of runs that ended by themselves while their scheduler still holds the job, except jobs that wait in its queue.
std::set<std::string> ended_but_held(const Home& home, const std::vector<LatestAttempt>& latest)
{
  std::vector<std::string> ended;
  for (const auto& run : latest)
    if (run.is_open && run.record.end) ended.push_back(run.key);
  std::set<std::string> held;
  if (ended.empty()) return held;
  for (const auto& status : reconcile(home, ended))
    if (status.verdict.state != RunState::queued) held.insert(status.key);
  return held;
}

// Reads the runs again that were open.
void refresh(const Home& home, std::vector<LatestAttempt>& latest)
{
  std::vector<std::string> keys;
  for (const auto& run : latest)
    if (run.is_open) keys.push_back(run.key);
  auto now = latest_attempts(home, keys);
  std::size_t next = 0;
  for (auto& run : latest)
    if (run.is_open) run = std::move(now[next++]);
}

} // namespace

// Reads the rest of the files after the scheduler was asked: a job that ends in between is then seen with its end. If the job
// still waits, the listing from before is good enough.
Evidence evidence_of(AttemptReader& reader, const AttemptRecord& known, const JobStatus& job)
{
  if (job.state != JobStatus::State::queued) reader.list_again();
  Evidence evidence{known, {}, {}, false, job};
  reader.read(files_of_every_verdict, evidence);
  if (evidence.has_result) return evidence;
  reader.read(files_without_result, evidence);
  evidence.is_own_program = evidence.preemption && reader.has(AttemptFile::work);
  const bool has_ended = evidence.end || job.state == JobStatus::State::ended || job.state == JobStatus::State::not_found;
  // dtjob writes errors to the job's log, too, because the disk of the attempt's folder may have been full.
  if (has_ended && evidence.submission)
    evidence.job_log = read_tail(job_log_path(reader.folder(), *evidence.submission), log_tail_bytes);
  if (reader.may_have(AttemptFile::err)) evidence.standard_error = read_tail(reader.folder().err(), stderr_tail_bytes);
  if (has_ended && reader.may_have(AttemptFile::out))
    evidence.standard_output = read_tail(reader.folder().out(), stdout_tail_bytes);
  return evidence;
}

std::vector<RunStatus> reconcile(const Home& home, std::span<const std::string> keys, std::vector<std::string>* troubles)
{
  auto latest = latest_attempts(home, keys);
  const auto jobs = ask_schedulers(home, latest, troubles);
  const double now = now_unix_s();
  std::vector<RunStatus> statuses(latest.size());
  in_parallel(latest.size(), [&](std::size_t i) { statuses[i] = status_or_trouble(latest[i], jobs[i], now); });
  ask_again_to_end(home, latest, jobs, statuses);
  return statuses;
}

std::size_t cancel_runs(const LockedHome& home, std::span<const std::string> keys, Cancellation order)
{
  order.unix_s = now_unix_s();
  auto latest = latest_attempts(home, keys);
  const auto ended = ended_but_held(home, latest);
  if (!ended.empty()) refresh(home, latest); // asking the scheduler took time
  std::size_t asked = 0;
  std::vector<std::string> elsewhere;
  for (const auto& [name, members] : open_by_scheduler(latest)) {
    const auto scheduler = scheduler_kind(name).open(home);
    const auto here = scheduler->cluster();
    std::vector<JobHandle> handles;
    for (const auto i : members) {
      auto handle = handle_of(latest[i]);
      if (const auto words = elsewhere_words(handle.cluster, here); !words.empty()) {
        elsewhere.push_back(words);
        continue;
      }
      handles.push_back(std::move(handle));
      // A run that ended by itself keeps its state; only its job is ended.
      if (!ended.contains(latest[i].key)) create_file_quick(latest[i].folder->cancel(), to_line(order));
    }
    try {
      ask_to_end(*scheduler, handles);
    } catch (const Error& error) {
      throw Error(error.kind(),
                  fmt::format("{} The cancellation is kept: a program that runs is ended by its own dtjob, and dtctl "
                              "status or watch asks the cluster again",
                              error.what()));
    }
    asked += handles.size();
  }
  if (!elsewhere.empty())
    throw Error(ErrorKind::scheduler,
                fmt::format("{} not cancelled: {}. Ask the cluster of the run (SLURM_CONF); {} asked to end",
                            counted(elsewhere.size(), "run was", "runs were"), elsewhere.front(),
                            counted(asked, "other run was", "other runs were")));
  for (const auto& run : latest)
    if (!run.unreadable.empty())
      throw Error(ErrorKind::environment,
                  fmt::format("Run {} was not cancelled, because its files cannot be read: {}. {} of the other runs "
                              "{} asked to end",
                              run.key, run.unreadable, asked, asked == 1 ? "was" : "were"));
  return asked;
}

} // namespace dt::jobs
