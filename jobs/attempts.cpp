#include "jobs/attempts.hpp"

namespace dt::jobs {
namespace {

LatestAttempt latest_attempt(const Home& home, const std::string& key)
{
  LatestAttempt latest{key, 0, std::nullopt, std::nullopt};
  const auto folder = home.run(key);
  const auto numbers = attempt_numbers(folder);
  if (numbers.empty()) return latest;
  latest.attempts = static_cast<int>(numbers.size());
  latest.folder = AttemptFolder(folder, numbers.back());
  latest.submission = read_submission(*latest.folder);
  return latest;
}

} // namespace

std::vector<LatestAttempt> latest_attempts(const Home& home, std::span<const std::string> keys)
{
  std::vector<LatestAttempt> latest;
  for (const auto& key : keys) latest.push_back(latest_attempt(home, key));
  return latest;
}

std::map<std::string, std::vector<std::size_t>> open_by_scheduler(const std::vector<LatestAttempt>& latest)
{
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < latest.size(); ++i) {
    const auto& attempt = latest[i];
    if (attempt.submission && !read_end(*attempt.folder) && !read_result(*attempt.folder))
      groups[attempt.submission->scheduler].push_back(i);
  }
  return groups;
}

JobHandle handle_of(const LatestAttempt& latest)
{
  return {latest.submission->job_id, latest.key, latest.submission->token, *latest.folder};
}

} // namespace dt::jobs
