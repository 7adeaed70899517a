#include "jobs/slurm/access/sbatch_words.hpp"

#include "jobs/slurm/access/site_facts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

// An option and its value. A value that is empty, or 0 of a limit, is left to the site.
using OptionValue = std::pair<const char*, std::string>;

std::string count(std::int64_t value) { return value > 0 ? std::to_string(value) : std::string(); }

// Sent to the script only.
std::string warning_of(const SlurmJob& job)
{
  if (job.signal <= 0 || job.signal_ahead_s <= 0) return {};
  return fmt::format("B:{}@{}", job.signal, std::min(job.signal_ahead_s, longest_warning_s));
}

} // namespace

std::vector<std::string> sbatch_words(const SlurmJob& job)
{
  const std::vector<OptionValue> settings{
      {"comment", job.comment}, // first, so that the submit line, which the accounting keeps, begins with it
      {"job-name", job.name},
      {"chdir", job.work_dir},
      {"output", job.out_path},
      {"input", "/dev/null"},
      {"open-mode", "append"},
      {"propagate", "NONE"}, // the node's own limits, as for a job that is submitted through libslurm
      {"nodes", count(job.nodes)},
      {"ntasks", count(job.tasks)},
      {"ntasks-per-node", count(job.tasks_per_node)},
      {"cpus-per-task", count(job.cpus_per_task)},
      {"time", count(job.time_limit_min)},
      {"partition", job.partition},
      {"account", job.account},
      {"qos", job.qos},
      {"constraint", job.constraint},
      {"exclude", job.exclude_nodes},
      {"nodelist", job.require_nodes},
      {"gpus-per-node", job.passed_options.contains("gpus-per-node") ? "" : count(job.gpus_per_node)},
      {"array", job.array},
      {"dependency", job.dependency},
      {"signal", warning_of(job)},
  };
  std::vector<std::string> words{"sbatch", "--parsable", job.requeue ? "--requeue" : "--no-requeue"};
  for (const auto& [name, value] : settings)
    if (!value.empty()) words.push_back(fmt::format("--{}={}", name, value));
  for (const auto& [name, value] : job.passed_options)
    words.push_back(value.empty() ? "--" + name : fmt::format("--{}={}", name, value));
  return words;
}

} // namespace dt::jobs::slurm
