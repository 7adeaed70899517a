#include "jobs/launch/rank_start.hpp"

namespace dt::jobs {

std::vector<std::string> bound(const RunSpec& spec, const std::string& agent, const std::vector<std::string>& program)
{
  std::vector<std::string> words{agent, "bind", "--cores", std::to_string(spec.cores_per_rank())};
  if (spec.resources.oversubscribe) words.emplace_back("--share");
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::map<std::string, std::string> rank_environment(const RunSpec& spec)
{
  return {
      {"OMP_NUM_THREADS", std::to_string(spec.resources.threads_per_rank)},
      // The rank's affinity mask is the binding. If OpenMP bound threads too, libgomp would pin the main thread to one core
      // before main(), and with it every thread started later (prefetch, communication).
      {"OMP_PROC_BIND", "false"},
      {"OMP_DYNAMIC", "false"},
  };
}

} // namespace dt::jobs
