#include "jobs/slurm/site_fit.hpp"

#include "core/counted.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/slurm/job_builder.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

std::string duration(std::int64_t minutes) { return format_duration(static_cast<double>(minutes * 60)); }

std::string time_misfit(const SlurmJob& job, const SlurmPartition& partition)
{
  const auto least_min = job.time_min_min > 0 ? std::min(job.time_min_min, job.time_limit_min) : job.time_limit_min;
  if (partition.max_time_s == 0 || least_min * 60 <= partition.max_time_s) return {};
  return fmt::format("it asks for {}, and the partition {} allows at most {}; lower resources.time_limit", duration(least_min),
                     printable(partition.name), duration(partition.max_time_s / 60));
}

std::string size_misfit(const SlurmJob& job, const SlurmPartition& partition)
{
  if (job.nodes > partition.nodes)
    return fmt::format("it asks for {}, and the partition {} has {}", counted(job.nodes, "node"), printable(partition.name),
                       partition.nodes);
  if (partition.max_nodes_per_job > 0 && job.nodes > partition.max_nodes_per_job)
    return fmt::format("it asks for {}, and the partition {} allows a job at most {}", counted(job.nodes, "node"),
                       printable(partition.name), partition.max_nodes_per_job);
  return {};
}

std::int64_t memory_mib(const SlurmJob& job, std::int64_t cores)
{
  if (job.memory_per_cpu_mib) return *job.memory_per_cpu_mib * cores;
  return job.memory_mib.value_or(0);
}

std::string node_misfit(const SlurmJob& job, const SlurmPartition& partition, const std::vector<SlurmNode>& nodes)
{
  const auto cores = job.tasks_per_node * job.cpus_per_task;
  const auto memory = memory_mib(job, cores);
  std::int64_t known = 0, large_enough = 0, most_cores = 0, most_memory = 0;
  for (const auto& node : nodes) {
    const auto partitions = split(node.partitions, ',');
    if (std::find(partitions.begin(), partitions.end(), partition.name) == partitions.end()) continue;
    ++known;
    if (node.cpus >= cores && node.memory_mib >= memory) ++large_enough;
    most_cores = std::max(most_cores, node.cpus);
    most_memory = std::max(most_memory, node.memory_mib);
  }
  if (known == 0 || large_enough >= job.nodes) return {};
  const auto asked = memory > 0 ? fmt::format("{} and {} MiB of memory", counted(cores, "core"), memory) : counted(cores, "core");
  return fmt::format(
      "it asks for {} with {} each, and the partition {} has {} such {} (its largest: {} cores, {} MiB); ask for fewer "
      "ranks or threads on a node, or set resources.oversubscribe",
      counted(job.nodes, "node"), asked, printable(partition.name), large_enough, large_enough == 1 ? "node" : "nodes",
      most_cores, most_memory);
}

std::string account_misfit(const SlurmJob& job, const std::vector<std::string>& accounts)
{
  if (accounts.empty())
    return "this Slurm demands an account, and you may charge none; ask the administrators for one (sacctmgr shows it)";
  if (job.account.empty() || std::find(accounts.begin(), accounts.end(), job.account) != accounts.end()) return {};
  return fmt::format(
      "you may not charge the account {}, or there is none of this name; set resources.account to one of yours: {}",
      printable(job.account), join(accounts, ", "));
}

std::string partition_misfit(const SlurmJob& job, const std::string& name, const SiteOffer& site)
{
  const auto* partition = find_partition(site.partitions, name);
  if (partition == nullptr) {
    std::vector<std::string> names;
    for (const auto& one : site.partitions) names.push_back(one.name);
    const auto what = name.empty() ? "there is no default partition" : "there is no partition " + printable(name);
    return fmt::format("{}; set resources.partition to one of: {}", what, join(names, ", "));
  }
  for (auto why : {time_misfit(job, *partition), size_misfit(job, *partition), node_misfit(job, *partition, site.nodes)})
    if (!why.empty()) return why;
  return {};
}

} // namespace

std::string misfit(const SlurmJob& job, const SiteOffer& site)
{
  std::string why;
  for (const auto& name : split(job.partition, ',')) { // of several partitions one is enough
    why = partition_misfit(job, name, site);
    if (why.empty()) break;
  }
  return why.empty() && site.accounts ? account_misfit(job, *site.accounts) : why;
}

} // namespace dt::jobs::slurm
