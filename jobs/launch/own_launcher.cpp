#include "jobs/launch/launcher.hpp"
#include "jobs/launch/rank_start.hpp"

namespace dt::jobs {

std::vector<std::string> OwnLauncher::command(const RunSpec& spec, const std::string& agent,
                                              const std::vector<std::string>& program) const
{
  std::vector<std::string> words{agent, "ranks", "--count", std::to_string(spec.processes())};
  const auto start = bound(spec, agent, program);
  words.insert(words.end(), start.begin(), start.end());
  return words;
}

std::map<std::string, std::string> OwnLauncher::environment(const RunSpec& spec) const { return rank_environment(spec); }

} // namespace dt::jobs
