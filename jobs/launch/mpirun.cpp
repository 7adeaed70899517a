#include "jobs/launch/launcher.hpp"

#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"
#include "jobs/launch/rank_start.hpp"

namespace dt::jobs {
namespace {

void append(std::vector<std::string>& words, const std::vector<std::string>& more)
{
  words.insert(words.end(), more.begin(), more.end());
}

// "host0:2,host1:2": the spec's nodes, each with slots for its processes. On a cluster mpirun gets the hosts from the scheduler.
std::string places(const RunSpec& spec)
{
  const auto hosts = usable_hosts(spec.resources);
  std::vector<std::string> places;
  for (std::size_t i = 0; i < hosts.size() && i < static_cast<std::size_t>(spec.resources.nodes); ++i)
    places.push_back(hosts[i] + ":" + std::to_string(spec.processes_per_node()));
  return join(places, ",");
}

} // namespace

std::vector<std::string> MpirunLauncher::command(const RunSpec& spec, const std::string& agent,
                                                 const std::vector<std::string>& program) const
{
  const auto& resources = spec.resources;
  std::vector<std::string> words{"mpirun",
                                 "-np",
                                 std::to_string(spec.processes()),
                                 "--map-by",
                                 "ppr:" + std::to_string(spec.processes_per_node()) + ":node",
                                 "--bind-to",
                                 "none"};
  if (scheduler_row(resources.scheduler).starts_ranks_on_hosts && !resources.hosts.empty())
    append(words, {"--host", places(spec)});
  if (resources.oversubscribe) append(words, {"--oversubscribe", "--mca", "mpi_yield_when_idle", "1"});
  append(words, resources.launcher_args);
  append(words, bound(spec, agent, program));
  return words;
}

bool MpirunLauncher::blocks_sigterm(const RunSpec& spec) const
{
  return scheduler_row(spec.resources.scheduler).signals_launcher;
}

std::map<std::string, std::string> MpirunLauncher::environment(const RunSpec& spec) const
{
  auto environment = rank_environment(spec);
  // These variables only affect root; they are always set, so that the script does not depend on who submits it.
  environment["OMPI_ALLOW_RUN_AS_ROOT"] = environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  return environment;
}

} // namespace dt::jobs
