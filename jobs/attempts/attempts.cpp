#include "jobs/attempts/attempts.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/record/study_record.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"
#include "jobs/machine/in_parallel.hpp"
#include "jobs/machine/quick_file.hpp"
#include "jobs/scheduler/batch.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace dt::jobs {
namespace {

using File = AttemptFile;

void read(LatestAttempt& latest, std::initializer_list<File> files)
{
  latest.reader->read(std::span(files.begin(), files.size()), latest.record);
}

// A cluster's scheduler can restart a job independent of how its ranks ended: after a preemption, at a user's request, after a
// lost node or, at some sites, because of an exit code. The end in a run's files is then final only when the scheduler no longer
// holds the job.
bool is_open(LatestAttempt& latest)
{
  read(latest, {File::result});
  if (latest.record.has_result) return false;
  read(latest, {File::end});
  if (!latest.record.end) return true;
  return scheduler_row(latest.record.submission->scheduler).restarts_jobs && !latest.reader->has(File::settled);
}

// Whether the scheduler's records may explain the end: a signal ended the ranks, or they were told to stop (scancel does that
// too).
bool is_unexplained(const LatestAttempt& latest)
{
  const auto& files = *latest.reader;
  if (files.has(File::requeue) || files.has(File::stop_reason) || files.has(File::cancel)) return false;
  return files.has(File::preempted) || (latest.record.end->exit_code > 128 && !files.has(File::error));
}

bool is_for_queue_only(const LatestAttempt& latest)
{
  if (latest.record.end && !is_unexplained(latest)) return true;
  return latest.record.submission->job_id.empty() && latest.reader->has(File::deferred);
}

// An attempt that ran had a complete intent. If its intent cannot be read now, the file is damaged; it is not left from an
// interrupted submission. Throws an environment error.
void expect_untouched(const LatestAttempt& latest)
{
  constexpr std::array traces{File::owner, File::begin, File::heartbeat, File::end, File::result};
  const auto* trace = std::find_if(traces.begin(), traces.end(), [&](auto file) { return latest.reader->has(file); });
  if (trace != traces.end())
    throw Error(ErrorKind::environment, latest.folder->submission().string() +
                                            " is missing or damaged, though the attempt has run: there is " +
                                            std::string(name_of(*trace)));
}

void read_latest(const std::filesystem::path& run_folder, LatestAttempt& latest)
{
  const auto numbers = attempt_numbers(run_folder);
  if (numbers.empty()) return;
  latest.attempts = static_cast<int>(numbers.size());
  latest.folder = AttemptFolder(run_folder, numbers.back());
  latest.reader.emplace(*latest.folder, AttemptReader::Figures::dropped);
  read(latest, {File::submission});
  if (!latest.record.submission) return expect_untouched(latest);
  latest.is_open = is_open(latest);
  if (!latest.is_open) return;
  latest.queue_only = is_for_queue_only(latest);
  // The scheduler will read owner.json for all runs at once. Reading it here assigns an error to this run alone.
  read(latest, {File::owner});
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
    if (latest[i].is_open) groups[latest[i].record.submission->scheduler].push_back(i);
  return groups;
}

bool was_cut_off(const AttemptFolder& attempt)
{
  if (is_there(attempt.requeue())) return true;
  const auto stopped = read_attempt(attempt, std::array{AttemptFile::stop_reason}).stop_reason;
  return is_there(attempt.preempted()) && !(stopped && stopped->kind == StopKind::time_limit);
}

void write_stop_reason(const AttemptFolder& attempt, const StopReason& reason)
{
  write_file_quick(attempt.stop_reason(), reason.line() + "\n");
}

bool has_stepped(const AttemptFolder& attempt)
{
  const auto beat = read_heartbeat(attempt);
  if (beat && beat->step > 0) return true;
  const auto events = read_tail(attempt.events(), 4096);
  if (events.starts_with("step ") || events.find("\nstep ") != std::string::npos) return true;
  const auto error = read_error(attempt);
  return error && error->step > 0;
}

std::filesystem::path job_log_path(const AttemptFolder& attempt, const Submission& submission)
{
  const auto token = parse_token(submission.token);
  if (!token) return {};
  return log_of(batch_folder(home_of(attempt), submission.scheduler, token->batch), *token);
}

JobHandle handle_of(const LatestAttempt& latest)
{
  const auto& submission = *latest.record.submission;
  return {submission.job_id, latest.key, submission.token, *latest.folder, latest.queue_only, submission.cluster};
}

std::string RunTitles::of(const std::string& study, const std::string& key)
{
  const auto [entry, is_new] = names_.try_emplace(study);
  auto& names = entry->second;
  const auto record = is_new && !study.empty() ? read_study(home_.study(study)) : std::nullopt;
  if (record)
    for (std::size_t i = 0; i < std::min(record->run_keys.size(), record->run_names.size()); ++i)
      names.emplace(record->run_keys[i], record->run_names[i]);
  const auto name = names.find(key);
  return name == names.end() ? "" : name->second;
}

} // namespace dt::jobs
