#include "jobs/launch/launcher.hpp"

#include "jobs/launch/rank_start.hpp"

#include <string_view>

namespace dt::jobs {
namespace {

std::string option(std::string_view name, std::int64_t value) { return "--" + std::string(name) + "=" + std::to_string(value); }

} // namespace

// States the rules for exits explicitly: a rank that fails ends all others at once; one minute after the first rank has ended
// well, ranks that hang are ended. Uses the first nodes of the allocation, because in a ladder a run can have fewer nodes than
// the allocation.
std::vector<std::string> SrunLauncher::command(const RunSpec& spec, const std::string& agent,
                                               const std::vector<std::string>& program) const
{
  const auto& resources = spec.resources;
  std::vector<std::string> words{"srun",
                                 "--mpi=pmix",
                                 option("nodes", resources.nodes),
                                 "--relative=0",
                                 option("ntasks", spec.processes()),
                                 option("ntasks-per-node", spec.processes_per_node()),
                                 option("cpus-per-task", spec.cores_per_rank() * spec.ranks_per_process()),
                                 "--distribution=block",
                                 "--cpu-bind=none",
                                 "--kill-on-bad-exit=1",
                                 "--wait=60",
                                 "--input=none",
                                 "--export=ALL"};
  if (resources.oversubscribe) words.push_back("--overcommit");
  if (resources.gpus_per_node > 0) words.push_back("--gres=gpu:" + std::to_string(resources.gpus_per_node));
  words.insert(words.end(), resources.launcher_args.begin(), resources.launcher_args.end());
  const auto start = bound(spec, agent, program);
  words.insert(words.end(), start.begin(), start.end());
  return words;
}

std::map<std::string, std::string> SrunLauncher::environment(const RunSpec& spec) const
{
  auto environment = rank_environment(spec);
  // There is no mpirun to pass this option to.
  if (spec.resources.oversubscribe) environment["OMPI_MCA_mpi_yield_when_idle"] = "1";
  return environment;
}

} // namespace dt::jobs
