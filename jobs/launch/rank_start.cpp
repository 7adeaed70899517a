#include "jobs/launch/rank_start.hpp"

#include "core/spec/scheduler_table.hpp"

namespace dt::jobs {

std::vector<std::string> bound(const RunSpec& spec, const std::string& agent, const std::vector<std::string>& program)
{
  const auto ranks = spec.ranks_per_process();
  std::vector<std::string> words{agent, "bind", "--cores", std::to_string(ranks * spec.cores_per_rank())};
  if (spec.resources.oversubscribe) words.emplace_back("--share");
  if (spec.resources.gpus_per_rank > 0)
    words.insert(words.end(), {"--gpus", std::to_string(ranks * spec.resources.gpus_per_rank)});
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::map<std::string, std::string> rank_environment(const RunSpec& spec)
{
  std::map<std::string, std::string> environment{
      {"OMP_NUM_THREADS", std::to_string(spec.resources.threads_per_rank)},
      // The rank's affinity mask is the binding. If OpenMP bound threads too, libgomp would pin the main thread to one core
      // before main(), and with it every thread started later (prefetch, communication).
      {"OMP_PROC_BIND", "false"},
      {"OMP_DYNAMIC", "false"},
  };
  // A cluster's scheduler says which GPUs a job has. On this machine a job sees the first ones.
  if (spec.resources.gpus_per_node > 0 && scheduler_row(spec.resources.scheduler).uses_this_machine) {
    auto& gpus = environment["CUDA_VISIBLE_DEVICES"];
    for (std::int64_t gpu = 0; gpu < spec.resources.gpus_per_node; ++gpu) gpus += (gpu > 0 ? "," : "") + std::to_string(gpu);
  }
  return environment;
}

} // namespace dt::jobs
