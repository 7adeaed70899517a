#include "jobs/reconcile.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts.hpp"
#include "jobs/quick_file.hpp"

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr std::size_t stderr_tail_bytes = 8192;

std::string first_line(const std::filesystem::path& path)
{
  const auto text = read_file_if_exists(path).value_or("");
  return text.substr(0, text.find('\n'));
}

// Format: "<unix seconds> <who>".
void read_cancel(const AttemptFolder& attempt, Evidence& evidence)
{
  const auto text = read_file_if_exists(attempt.cancel());
  evidence.cancel_requested = text.has_value();
  if (text) evidence.cancelled_by = printable(trim(std::string_view(*text).substr(std::min(text->find(' '), text->size()))));
}

std::optional<StallRecord> read_open_stall(const AttemptFolder& attempt)
{
  auto stall = read_stall(attempt);
  return stall && std::isnan(stall->resolved_unix_s) ? stall : std::nullopt;
}

// Reads the files of an attempt that may exist.
Evidence read_evidence(const AttemptFolder& attempt, const AttemptFiles& files)
{
  Evidence evidence;
  if (files.may_have(attempt.end())) evidence.end = read_end(attempt);
  if (files.may_have(attempt.result())) evidence.has_result = read_result(attempt).has_value();
  if (files.may_have(attempt.begin())) evidence.begin = read_begin(attempt);
  if (files.may_have(attempt.heartbeat())) evidence.heartbeat = read_heartbeat(attempt);
  if (files.may_have(attempt.cancel())) read_cancel(attempt, evidence);
  if (files.may_have(attempt.launches())) evidence.launches = static_cast<int>(read_launches(attempt).size());
  if (files.may_have(attempt.deferred())) evidence.deferral = read_deferral(attempt);
  if (files.may_have(attempt.preempted())) evidence.preemption = read_preemption(attempt);
  if (evidence.has_result) return evidence;
  evidence.requeue_asked = files.may_have(attempt.requeue()) && is_there(attempt.requeue());
  if (files.may_have(attempt.stall())) evidence.stall = read_open_stall(attempt);
  if (files.may_have(attempt.error())) evidence.error = read_error(attempt);
  if (files.may_have(attempt.stop_reason())) evidence.stop_reason = first_line(attempt.stop_reason());
  if (files.may_have(attempt.err())) evidence.last_words = read_tail(attempt.err(), stderr_tail_bytes);
  return evidence;
}

// Read the files after asking the scheduler: a job that ends in between is then seen with its end. If the job still waits, the
// listing from before is good enough.
Evidence read_evidence(const LatestAttempt& latest, const JobStatus& job)
{
  const bool waits = job.state == JobStatus::State::queued;
  auto evidence = read_evidence(*latest.folder, waits ? latest.files : AttemptFiles(*latest.folder));
  evidence.submission = latest.submission;
  evidence.job = job;
  return evidence;
}

// Stores the scheduler's outcome, because the scheduler forgets its jobs while the verdict must not change.
void keep_outcome(const AttemptFolder& attempt, Evidence& evidence)
{
  const auto& job = evidence.job;
  if (job.state != JobStatus::State::ended || !job.outcome || evidence.has_result || !evidence.stop_reason.empty()) return;
  evidence.stop_reason = fmt::format("{}: {}", name_of(*job.outcome), printable(job.cause));
  try {
    create_file_quick(attempt.stop_reason(), evidence.stop_reason + "\n");
  } catch (const Error&) { // the home cannot be written now; a later call asks the scheduler again
  }
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

// If a forced new attempt is cancelled, the result of an earlier attempt still counts.
void keep_earlier_result(const std::filesystem::path& run_folder, RunStatus& status)
{
  if (status.verdict.state != RunState::cancelled) return;
  auto numbers = attempt_numbers(run_folder);
  std::erase_if(numbers, [&](int number) { return number >= status.attempt || !read_result(AttemptFolder(run_folder, number)); });
  if (numbers.empty()) return;
  status.verdict = {
      RunState::succeeded,
      fmt::format("attempt {} has the result; attempt {} was {}", numbers.back(), status.attempt, status.verdict.cause),
      fmt::format("result.json of attempt {}", numbers.back()), 0, false};
  status.attempt = numbers.back();
}

RunStatus unreadable_status(const LatestAttempt& latest, const std::string& why)
{
  RunStatus status;
  status.key = latest.key;
  status.attempts = latest.attempts;
  if (latest.folder) status.attempt = status.newest_attempt = latest.folder->number();
  status.submission = latest.submission;
  status.verdict = {RunState::unknown, printable(why), "unreadable", std::nullopt, false};
  status.unreadable = true;
  return status;
}

RunStatus status_of(const LatestAttempt& latest, const JobStatus& job, double now)
{
  RunStatus status;
  status.key = latest.key;
  status.attempts = latest.attempts;
  if (!latest.submission) {
    status.verdict = judge({}, now);
    return status;
  }
  auto evidence = read_evidence(latest, job);
  keep_outcome(*latest.folder, evidence);
  keep_settled(*latest.folder, evidence);
  status.attempt = status.newest_attempt = latest.folder->number();
  status.verdict = judge(evidence, now);
  keep_earlier_result(latest.folder->run_folder(), status);
  status.submission = evidence.submission;
  if (status.submission->job_id.empty()) status.submission->job_id = job.job_id;
  status.begin = evidence.begin;
  status.heartbeat = evidence.heartbeat;
  status.job = job;
  status.preemption = evidence.preemption;
  status.launches = evidence.launches;
  status.is_deferred = evidence.deferral && status.verdict.state == RunState::planned;
  return status;
}

RunStatus status_or_trouble(const LatestAttempt& latest, const JobStatus& job, double now)
{
  if (!latest.unreadable.empty()) return unreadable_status(latest, latest.unreadable);
  try {
    return status_of(latest, job, now);
  } catch (const Error& error) {
    return unreadable_status(latest, error.what());
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
      answers = make_scheduler(name, home)->poll(handles);
    } catch (const Error& error) {
      if (troubles == nullptr || error.kind() != ErrorKind::scheduler) throw;
      troubles->emplace_back(error.what());
      answers = unreachable(handles, error.what());
    }
    for (std::size_t k = 0; k < members.size(); ++k) statuses[members[k]] = answers[k];
  }
  return statuses;
}

// Keys of runs that ended by themselves while their scheduler still knows the job, except jobs that wait in its queue.
std::set<std::string> ended_but_held(const Home& home, std::span<const std::string> keys)
{
  std::vector<std::string> ended;
  for (const auto& latest : latest_attempts(home, keys))
    if (latest.submission && scheduler_row(latest.submission->scheduler).restarts_jobs && read_end(*latest.folder))
      ended.push_back(latest.key);
  std::set<std::string> held;
  if (ended.empty()) return held;
  for (const auto& status : reconcile(home, ended))
    if (status.verdict.state != RunState::queued) held.insert(status.key);
  return held;
}

} // namespace

std::vector<RunStatus> reconcile(const Home& home, std::span<const std::string> keys, std::vector<std::string>* troubles)
{
  const auto latest = latest_attempts(home, keys);
  const auto jobs = ask_schedulers(home, latest, troubles);
  const double now = now_unix_s();
  std::vector<RunStatus> statuses(latest.size());
  in_parallel(latest.size(), [&](std::size_t i) { statuses[i] = status_or_trouble(latest[i], jobs[i], now); });
  return statuses;
}

std::size_t cancel_runs(const Home& home, std::span<const std::string> keys, const std::string& who)
{
  const auto ended = ended_but_held(home, keys);
  const auto latest = latest_attempts(home, keys);
  std::size_t asked = 0;
  for (const auto& [name, members] : open_by_scheduler(latest)) {
    std::vector<JobHandle> handles;
    for (const auto i : members) {
      handles.push_back(handle_of(latest[i]));
      // A run that ended by itself keeps its state; only its job is ended.
      if (!ended.contains(latest[i].key))
        create_file_quick(latest[i].folder->cancel(), fmt::format("{:.3f} {}\n", now_unix_s(), printable(who)));
    }
    make_scheduler(name, home)->cancel(handles);
    asked += handles.size();
  }
  for (const auto& run : latest)
    if (!run.unreadable.empty())
      throw Error(ErrorKind::environment,
                  fmt::format("Run {} was not cancelled, because its files cannot be read: {}. {} of the other runs "
                              "{} asked to end",
                              run.key, run.unreadable, asked, asked == 1 ? "was" : "were"));
  return asked;
}

} // namespace dt::jobs
