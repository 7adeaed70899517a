#include "jobs/attempts.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace dt::jobs {
namespace {

bool exists(const LatestAttempt& latest, const std::filesystem::path& file)
{
  return latest.files.may_have(file) && is_there(file);
}

std::optional<JobEnd> end_of(const LatestAttempt& latest)
{
  return latest.files.may_have(latest.folder->end()) ? read_end(*latest.folder) : std::nullopt;
}

// Slurm can restart a job independent of how its ranks ended: after a preemption, `scontrol requeue`, a lost node or, at some
// sites, because of an exit code. The end in a run's files is then final only when the scheduler no longer holds the job.
bool is_open(const LatestAttempt& latest)
{
  const auto& attempt = *latest.folder;
  if (latest.files.may_have(attempt.result()) && read_result(attempt)) return false;
  if (!end_of(latest)) return true;
  return scheduler_row(latest.submission->scheduler).restarts_jobs && !exists(latest, attempt.settled());
}

// Whether the scheduler's records may explain the end: a signal ended the ranks, or they were told to stop (scancel does that
// too).
bool is_unexplained(const LatestAttempt& latest, const JobEnd& end)
{
  const auto& attempt = *latest.folder;
  if (exists(latest, attempt.requeue()) || exists(latest, attempt.stop_reason()) || exists(latest, attempt.cancel()))
    return false;
  return exists(latest, attempt.preempted()) || (end.exit_code > 128 && !exists(latest, attempt.error()));
}

// An attempt that ran had a complete intent. If its intent cannot be read now, the file is damaged; it is not left from an
// interrupted submission. Throws an environment error.
void expect_untouched(const LatestAttempt& latest)
{
  const auto& attempt = *latest.folder;
  const std::array traces{attempt.owner(), attempt.begin(), attempt.heartbeat(), attempt.end(), attempt.result()};
  const auto trace = std::find_if(traces.begin(), traces.end(), [&](const auto& file) { return exists(latest, file); });
  if (trace != traces.end())
    throw Error(ErrorKind::environment, attempt.submission().string() +
                                            " is missing or damaged, though the attempt has run: there is " +
                                            trace->filename().string());
}

void read_latest(const std::filesystem::path& run_folder, LatestAttempt& latest)
{
  const auto numbers = attempt_numbers(run_folder);
  if (numbers.empty()) return;
  latest.attempts = static_cast<int>(numbers.size());
  latest.folder = AttemptFolder(run_folder, numbers.back());
  latest.files = AttemptFiles(*latest.folder);
  latest.submission = read_submission(*latest.folder);
  if (!latest.submission) return expect_untouched(latest);
  latest.is_open = is_open(latest);
  // The scheduler will read owner.json for all runs at once. Reading it here assigns an error to this run alone.
  if (latest.is_open && latest.files.may_have(latest.folder->owner())) read_file_if_exists(latest.folder->owner());
}

// An error in one run's files must not affect the other runs.
LatestAttempt latest_attempt(const Home& home, const std::string& key)
{
  LatestAttempt latest;
  latest.key = key;
  try {
    read_latest(home.run(key), latest);
  } catch (const Error& error) {
    latest.is_open = false;
    latest.unreadable = error.what();
  }
  return latest;
}

} // namespace

std::vector<LatestAttempt> latest_attempts(const Home& home, std::span<const std::string> keys)
{
  std::vector<LatestAttempt> latest(keys.size());
  in_parallel(keys.size(), [&](std::size_t i) { latest[i] = latest_attempt(home, keys[i]); });
  return latest;
}

std::map<std::string, std::vector<std::size_t>> open_by_scheduler(const std::vector<LatestAttempt>& latest)
{
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < latest.size(); ++i)
    if (latest[i].is_open) groups[latest[i].submission->scheduler].push_back(i);
  return groups;
}

bool was_cut_off(const AttemptFolder& attempt)
{
  if (is_there(attempt.requeue())) return true;
  return is_there(attempt.preempted()) && trim(read_file_if_exists(attempt.stop_reason()).value_or("")) != time_limit_reason;
}

JobHandle handle_of(const LatestAttempt& latest)
{
  const auto end = end_of(latest);
  const bool has_ended = end && !is_unexplained(latest, *end);
  const bool is_deferred = latest.submission->job_id.empty() && exists(latest, latest.folder->deferred());
  return {latest.submission->job_id, latest.key, latest.submission->token, *latest.folder, has_ended || is_deferred};
}

} // namespace dt::jobs
