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
  for (std::size_t i = 0; i < latest.size(); ++i) {
    const auto& attempt = latest[i];
    if (!attempt.submission) continue;
    const bool ended = attempt.files.may_have(attempt.folder->end()) && read_end(*attempt.folder);
    if (!ended && !(attempt.files.may_have(attempt.folder->result()) && read_result(*attempt.folder)))
      groups[attempt.submission->scheduler].push_back(i);
  }
  return groups;
}

JobHandle handle_of(const LatestAttempt& latest)
{
  return {latest.submission->job_id, latest.key, latest.submission->token, *latest.folder};
}

} // namespace dt::jobs
