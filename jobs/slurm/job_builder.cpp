#include "jobs/slurm/job_builder.hpp"

#include "core/error.hpp"
#include "core/text.hpp"
#include "jobs/slurm/access/array_tasks.hpp"
#include "jobs/slurm/scheduler_args.hpp"

#include <algorithm>
#include <csignal>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

std::int64_t cores_per_node(const JobRequest& request) { return request.resources.ranks_per_node * request.cores_per_rank(); }

// What the job asks for. Runs of a ladder may differ in every resource, and the job needs the most of each; the other settings
// are those of the run with the most nodes.
JobRequest largest(const Batch& batch, std::span<const JobRequest> requests)
{
  const auto most = [&](auto amount) -> const JobRequest& {
    return requests[*std::max_element(batch.members.begin(), batch.members.end(),
                                      [&](std::size_t a, std::size_t b) { return amount(requests[a]) < amount(requests[b]); })];
  };
  const auto gpus = [](const JobRequest& request) { return request.resources.gpus_per_node; };
  auto job = most([](const JobRequest& request) { return request.resources.nodes; });
  const auto& widest = most(cores_per_node);
  job.resources.ranks_per_node = widest.resources.ranks_per_node;
  job.resources.threads_per_rank = widest.resources.threads_per_rank;
  job.side_threads = widest.side_threads;
  job.resources.gpus_per_node = gpus(most(gpus));
  return job;
}

std::int64_t time_limit_s(const Batch& batch, std::span<const JobRequest> requests)
{
  if (batch.kind != BatchKind::ladder) return requests[batch.members.front()].resources.time_limit_s;
  std::int64_t sum_s = ladder_margin_s(batch.members.size());
  for (const auto member : batch.members) sum_s += requests[member].resources.time_limit_s;
  return sum_s;
}

// With oversubscribe, a node may have more ranks than cores. The request is limited to the cores of a node; otherwise the job
// could never start.
void put_tasks(SlurmJob& job, const JobRequest& request, std::int64_t cores_per_node)
{
  const auto& resources = request.resources;
  job.nodes = resources.nodes;
  job.cpus_per_task = request.cores_per_rank();
  job.tasks_per_node = resources.ranks_per_node;
  if (resources.oversubscribe && cores_per_node > 0) {
    job.cpus_per_task = std::min(job.cpus_per_task, cores_per_node);
    job.tasks_per_node = std::min(job.tasks_per_node, cores_per_node / job.cpus_per_task);
  }
  job.tasks = job.nodes * job.tasks_per_node;
}

// After the scheduler_args, which may name nodes too.
void put_places(SlurmJob& job, const ResourcesSpec& resources)
{
  if (!resources.nodelist.empty()) job.require_nodes = resources.nodelist;
  for (const auto& node : resources.exclude) job.exclude_nodes += (job.exclude_nodes.empty() ? "" : ",") + node;
}

std::string array_of(const Batch& batch, std::int64_t max_running)
{
  if (batch.kind != BatchKind::array) return {};
  const auto tasks = format_array_tasks(batch.indices);
  return max_running > 0 ? fmt::format("{}%{}", tasks, max_running) : tasks;
}

// The ids in `after` of all requests of the batch, and the ids of the jobs that hold its lanes.
std::vector<std::string> awaited(const Batch& batch, std::span<const JobRequest> requests, std::span<const std::string> after)
{
  std::set<std::string> ids(after.begin(), after.end());
  for (const auto member : batch.members) ids.insert(requests[member].after.begin(), requests[member].after.end());
  return {ids.begin(), ids.end()};
}

} // namespace

std::int64_t most_array_tasks(const SlurmSite& site)
{
  return site.max_array_tasks > 0 ? std::min(site.max_array_size, site.max_array_tasks) : site.max_array_size;
}

SlurmJob job_for(const Batch& batch, std::span<const JobRequest> requests, const std::filesystem::path& folder,
                 const SubmissionContext& context, std::span<const std::string> after)
{
  const auto request = largest(batch, requests);
  const auto& resources = request.resources;
  const auto limit_s = time_limit_s(batch, requests);
  SlurmJob job;
  std::vector<std::string> keys;
  for (const auto member : batch.members) keys.push_back(requests[member].name);
  job.name = batch.name;
  job.comment = comment_of(batch.kind, batch.id, keys);
  job.script_path = (folder / "script").string();
  job.work_dir = context.work_dir;
  job.out_path = slurm_output(folder, batch.kind);
  job.environment = context.environment;
  put_tasks(job, request, context.cores_per_node);
  job.time_limit_min = (limit_s + 59) / 60;
  job.partition = resources.partition;
  job.account = resources.account;
  job.qos = resources.qos;
  job.constraint = resources.constraint;
  job.array = array_of(batch, context.max_running);
  job.dependency = dependency_on(awaited(batch, requests, after));
  job.requeue = resources.requeue > 0;
  job.signal = SIGUSR1;
  // Limit the warning to half of the time limit: a warning as long as the whole job would stop it at once.
  job.signal_ahead_s = std::min(resources.signal_ahead_s, limit_s / 2);
  job.gpus_per_node = resources.gpus_per_node;
  apply_scheduler_args(resources.scheduler_args, job);
  put_places(job, resources);
  job.dependency = both_dependencies(job.user_dependency, job.dependency);
  if (job.time_min_min > 0) job.signal_ahead_s = std::min(job.signal_ahead_s, job.time_min_min * 60 / 2);
  return job;
}

std::string both_dependencies(const std::string& users, const std::string& own)
{
  if (users.empty() || own.empty()) return users + own;
  if (users.find('?') == std::string::npos) return users + "," + own;
  throw Error(
      ErrorKind::recipe,
      fmt::format("resources.scheduler_args: --dependency={} names alternatives (?), and Slurm cannot combine them with the "
                  "jobs that --after or --max-jobs of dtctl wait for ({}); use only one of the two.",
                  printable(users), own));
}

// The shortest time limit that Slurm may give a run (--time-min). For a ladder Slurm may only shorten the whole job.
std::int64_t least_limit_s(const Batch& batch, const ResourcesSpec& resources)
{
  SlurmJob job;
  apply_scheduler_args(resources.scheduler_args, job);
  const bool may_be_less = batch.kind != BatchKind::ladder && job.time_min_min > 0;
  return may_be_less ? std::min(resources.time_limit_s, job.time_min_min * 60) : resources.time_limit_s;
}

std::vector<BatchTask> tasks_for(const Batch& batch, std::span<const JobRequest> requests)
{
  std::vector<BatchTask> tasks;
  for (std::size_t i = 0; i < batch.members.size(); ++i) {
    const auto& request = requests[batch.members[i]];
    tasks.push_back({batch.indices[i], request.token, request.resources.nodes, least_limit_s(batch, request.resources),
                     std::filesystem::absolute(request.attempt.path())});
  }
  return tasks;
}

std::string dependency_on(std::span<const std::string> ids)
{
  std::map<std::string, std::vector<std::string>> jobs; // key: id of the array, or of the job
  for (const auto& id : ids) jobs[id.substr(0, id.find('_'))].push_back(id);
  std::string text;
  for (const auto& [array, tasks] : jobs) text += (text.empty() ? "afterany:" : ":") + (tasks.size() > 1 ? array : tasks.front());
  return text;
}

std::vector<std::int64_t> shares_of_lanes(std::span<const std::size_t> runs, std::int64_t width)
{
  if (width <= 0) return std::vector<std::int64_t>(runs.size(), 0);
  std::vector<std::int64_t> shares(runs.size(), 1);
  const auto runs_a_lane = [&](std::size_t i) { return static_cast<double>(runs[i]) / static_cast<double>(shares[i]); };
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (auto left = width - static_cast<std::int64_t>(runs.size()); left > 0; --left) {
    const auto longest =
        std::max_element(order.begin(), order.end(), [&](auto a, auto b) { return runs_a_lane(a) < runs_a_lane(b); });
    if (longest == order.end() || runs_a_lane(*longest) <= 1) break; // every run has a lane
    ++shares[*longest];
  }
  return shares;
}

const SlurmPartition* find_partition(std::span<const SlurmPartition> partitions, const std::string& name)
{
  const auto is_meant = [&](const SlurmPartition& one) { return name.empty() ? one.is_default : one.name == name; };
  const auto partition = std::find_if(partitions.begin(), partitions.end(), is_meant);
  return partition == partitions.end() ? nullptr : &*partition;
}

std::int64_t cores_per_node(std::span<const SlurmPartition> partitions, const std::string& name)
{
  const auto* partition = find_partition(partitions, name);
  return partition == nullptr || partition->nodes == 0 ? 0 : partition->cpus / partition->nodes;
}

std::vector<std::string> usable_nodes(std::span<const SlurmPartition> partitions, std::span<const SlurmNode> nodes,
                                      const ResourcesSpec& resources)
{
  std::vector<std::string> names;
  const auto* partition = find_partition(partitions, resources.partition);
  if (partition == nullptr) return names;
  for (const auto& node : nodes) {
    const auto of_node = split(node.partitions, ',');
    const bool is_in = std::ranges::find(of_node, partition->name) != of_node.end();
    const bool is_excluded = std::ranges::find(resources.exclude, node.name) != resources.exclude.end();
    if (is_in && node.is_usable && !is_excluded) names.push_back(node.name);
  }
  return names;
}

std::vector<std::string> Lanes::before(std::size_t runs) const
{
  std::set<std::string> ids;
  for (std::size_t i = 0; i < std::min(runs, holders_.size()); ++i)
    if (!holders_[lane(i)].empty()) ids.insert(holders_[lane(i)]);
  return {ids.begin(), ids.end()};
}

void Lanes::take(std::size_t runs, const std::string& id)
{
  if (holders_.empty()) return;
  const auto taken = std::min(runs, holders_.size());
  for (std::size_t i = 0; i < taken; ++i) holders_[lane(i)] = id;
  next_ = lane(taken);
}

} // namespace dt::jobs::slurm
