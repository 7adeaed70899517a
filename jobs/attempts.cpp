#include "jobs/attempts.hpp"

namespace dt::jobs {
namespace {

LatestAttempt latest_attempt(const Home& home, const std::string& key)
{
  LatestAttempt latest{key, 0, std::nullopt, {}, std::nullopt};
  const auto folder = home.run(key);
  const auto numbers = attempt_numbers(folder);
  if (numbers.empty()) return latest;
  latest.attempts = static_cast<int>(numbers.size());
  latest.folder = AttemptFolder(folder, numbers.back());
  latest.files = AttemptFiles(*latest.folder);
  latest.submission = read_submission(*latest.folder);
  return latest;
}

bool exists(const LatestAttempt& latest, const std::filesystem::path& file)
{
  return latest.files.may_have(file) && std::filesystem::exists(file);
}

// Slurm preempts and queues again by its own will: no marker of ours tells, so the queue is asked until it told the end.
bool may_be_queued_again(const LatestAttempt& latest)
{
  const auto& attempt = *latest.folder;
  return latest.submission->scheduler != "local" && exists(latest, attempt.preempted()) && !exists(latest, attempt.cancel()) &&
         !exists(latest, attempt.stop_reason());
}

bool is_open(const LatestAttempt& latest)
{
  const auto& attempt = *latest.folder;
  if (latest.files.may_have(attempt.result()) && read_result(attempt)) return false;
  const auto end = latest.files.may_have(attempt.end()) ? read_end(attempt) : std::nullopt;
  if (!end || exists(latest, attempt.requeue()) || may_be_queued_again(latest)) return true;
  const bool is_explained = exists(latest, attempt.stop_reason()) || exists(latest, attempt.cancel()) ||
                            exists(latest, attempt.error()) || exists(latest, attempt.preempted());
  return end->exit_code > 128 && !is_explained && latest.submission->scheduler != "local";
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
    if (latest[i].submission && is_open(latest[i])) groups[latest[i].submission->scheduler].push_back(i);
  return groups;
}

JobHandle handle_of(const LatestAttempt& latest)
{
  const bool has_ended = exists(latest, latest.folder->end());
  const bool is_to_come_back = exists(latest, latest.folder->requeue()) || may_be_queued_again(latest);
  return {latest.submission->job_id, latest.key, latest.submission->token, *latest.folder, has_ended && is_to_come_back};
}

} // namespace dt::jobs
