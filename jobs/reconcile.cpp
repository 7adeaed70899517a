#include "jobs/reconcile.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts.hpp"
#include "jobs/quick_file.hpp"

#include <map>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr std::size_t stderr_tail_bytes = 8192;

std::string first_line(const std::filesystem::path& path)
{
  const auto text = read_file_if_exists(path).value_or("");
  return text.substr(0, text.find('\n'));
}

// "<unix seconds> <who>"
void read_cancel(const AttemptFolder& attempt, Evidence& evidence)
{
  const auto text = read_file_if_exists(attempt.cancel());
  evidence.cancel_requested = text.has_value();
  if (text) evidence.cancelled_by = printable(trim(std::string_view(*text).substr(std::min(text->find(' '), text->size()))));
}

// What the attempt's files say, of those it may have.
Evidence read_evidence(const AttemptFolder& attempt, const AttemptFiles& files)
{
  Evidence evidence;
  if (files.may_have(attempt.end())) evidence.end = read_end(attempt);
  if (files.may_have(attempt.result())) evidence.has_result = read_result(attempt).has_value();
  if (files.may_have(attempt.begin())) evidence.begin = read_begin(attempt);
  if (files.may_have(attempt.heartbeat())) evidence.heartbeat = read_heartbeat(attempt);
  if (files.may_have(attempt.cancel())) read_cancel(attempt, evidence);
  if (evidence.has_result) return evidence;
  if (files.may_have(attempt.error())) evidence.error = read_error(attempt);
  if (files.may_have(attempt.stop_reason())) evidence.stop_reason = first_line(attempt.stop_reason());
  if (files.may_have(attempt.err())) evidence.last_words = read_tail(attempt.err(), stderr_tail_bytes);
  return evidence;
}

// Files are read after the scheduler was asked: a job that ends in between is then seen with its end, never without both. Of a
// job that still waits, what was read before tells as much.
Evidence read_evidence(const LatestAttempt& latest, const JobStatus& job)
{
  const bool waits = job.state == JobStatus::State::queued;
  auto evidence = read_evidence(*latest.folder, waits ? latest.files : AttemptFiles(*latest.folder));
  evidence.submission = latest.submission;
  evidence.job = job;
  return evidence;
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
  const auto evidence = read_evidence(latest, job);
  status.attempt = latest.folder->number();
  status.verdict = judge(evidence, now);
  status.submission = evidence.submission;
  if (status.submission->job_id.empty()) status.submission->job_id = job.job_id;
  status.begin = evidence.begin;
  status.heartbeat = evidence.heartbeat;
  status.job = job;
  return status;
}

// One question a scheduler; those of a scheduler we do not have are left unknown.
std::vector<JobStatus> ask_schedulers(const Home& home, const std::vector<LatestAttempt>& latest)
{
  std::vector<JobStatus> statuses(latest.size());
  for (const auto& [name, members] : open_by_scheduler(latest)) {
    std::vector<JobHandle> handles;
    for (const auto i : members) handles.push_back(handle_of(latest[i]));
    const auto answers = make_scheduler(name, home)->poll(handles);
    for (std::size_t k = 0; k < members.size(); ++k) statuses[members[k]] = answers[k];
  }
  return statuses;
}

} // namespace

std::vector<RunStatus> reconcile(const Home& home, std::span<const std::string> keys)
{
  const auto latest = latest_attempts(home, keys);
  const auto jobs = ask_schedulers(home, latest);
  const double now = now_unix_s();
  std::vector<RunStatus> statuses(latest.size());
  in_parallel(latest.size(), [&](std::size_t i) { statuses[i] = status_of(latest[i], jobs[i], now); });
  return statuses;
}

std::size_t cancel_runs(const Home& home, std::span<const std::string> keys, const std::string& who)
{
  const auto latest = latest_attempts(home, keys);
  std::size_t asked = 0;
  for (const auto& [name, members] : open_by_scheduler(latest)) {
    std::vector<JobHandle> handles;
    for (const auto i : members) {
      handles.push_back(handle_of(latest[i]));
      create_file_quick(latest[i].folder->cancel(), fmt::format("{:.3f} {}\n", now_unix_s(), printable(who)));
    }
    make_scheduler(name, home)->cancel(handles);
    asked += handles.size();
  }
  return asked;
}

} // namespace dt::jobs
