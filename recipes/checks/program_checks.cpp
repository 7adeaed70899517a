// Checks of the user's own program, and of GPUs, wrappers and containers.
#include "core/program/program_words.hpp"
#include "core/text.hpp"
#include "recipes/checks/checks.hpp"
#include "recipes/reading/diagnostics.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace dt::recipes {
namespace {

using Problems = std::vector<Problem>;

void check_command(const RunSpec& spec, Problems& problems)
{
  const auto& program = spec.program;
  if (!program.command.empty() && program.command.front().empty())
    problems.push_back({{"program.command"}, "`program.command` begins with an empty word; write the program's name first"});
  if (!program.command.empty()) return;
  const auto require_command = [&](std::string_view key, bool is_given) {
    if (is_given)
      problems.push_back(
          {{key}, ticked(key) + " has an effect only together with `program.command`; give it, or remove the key"});
  };
  require_command("program.files", !program.files.empty());
  require_command("program.parameters", !program.parameters.empty());
  require_command("program.metrics", !program.metrics.empty());
  require_command("program.environment", !program.environment.empty());
  require_command("program.identity", program.identity != ProgramIdentity::environment);
  require_command("program.samples", !program.samples.empty());
  require_command("program.launch", program.launch != ProgramLaunch::per_rank);
  require_command("program.observe", program.observe != ProgramObservation::automatic);
}

void check_samples(const RunSpec& spec, Problems& problems)
{
  const auto& program = spec.program;
  if (program.samples.empty()) return;
  if (!samples_of_rank(program.samples, spec.workers()))
    problems.push_back(
        {{"program.samples"},
         "`program.samples` is \"" + program.samples +
             "\"; write the samples of each rank in a step (`64`), those of all ranks (`128 of all ranks`), or the "
             "dimension of the batches that holds them, counted from 0 (`dimension 1`)"});
  if (!program.metrics.empty())
    problems.push_back({{"program.samples", "program.metrics"},
                        "`program.samples` is for programs that dtctl observes, and `program.metrics` finds the samples in what "
                        "the program prints; remove one"});
}

void check_throughput(const RunSpec& spec, Problems& problems)
{
  const auto& program = spec.program;
  if (program.throughput != PrintedThroughput::mean && !program.metrics.contains("throughput"))
    problems.push_back({{"program.throughput"},
                        "`program.throughput` chooses among the throughputs that the program prints; add "
                        "`program.metrics.throughput`, or remove the key"});
}

// Steps have one source.
void check_observation(const RunSpec& spec, Problems& problems)
{
  const auto& program = spec.program;
  if (program.observe != ProgramObservation::pytorch) return;
  if (!program.metrics.empty())
    problems.push_back(
        {{"program.observe", "program.metrics"},
         "`program.observe: pytorch` and `program.metrics` both say what the steps of the program are; remove one"});
  if (program.sync)
    problems.push_back(
        {{"program.observe"},
         "`program.observe: pytorch` does not go with the block `sync`, because dtctl_sync reports the steps; remove "
         "one"});
}

// dtjob starts processes of this node, and gives them no MPI.
void check_own_launcher(const RunSpec& spec, Problems& problems)
{
  const auto& resources = spec.resources;
  if (resources.launcher != "dtjob" || spec.is_simulated()) return;
  const auto add = [&](std::string_view key, const std::string& why) {
    problems.push_back(
        {{"resources.launcher", key},
         "`resources.launcher: dtjob` " + why + "; set it to mpirun" + (resources.hosts.empty() ? " or srun" : "")});
  };
  if (!spec.is_own_program()) add("program.command", "starts programs of your own (`program.command`), and dtengine needs MPI");
  if (resources.nodes > 1 || !resources.hosts.empty())
    add(resources.nodes > 1 ? "resources.nodes" : "resources.hosts", "starts ranks on one node, the job's own");
  if (!resources.launcher_args.empty())
    problems.push_back(
        {{"resources.launcher_args"}, "`resources.launcher: dtjob` has no arguments; remove `resources.launcher_args`"});
}

// Two parameters must not share an environment variable.
void check_parameters(const RunSpec& spec, Problems& problems)
{
  std::map<std::string, std::string> seen; // key: variable
  for (const auto& [name, value] : spec.program.parameters)
    if (const auto [other, is_new] = seen.emplace(variable_of_key("program.parameters." + name), name); !is_new)
      problems.push_back({{"program.parameters"},
                          "`program.parameters` has the names " + ticked(other->second) + " and " + ticked(name) +
                              ", which are one environment variable: " + other->first + "; rename one"});
}

void check_wrapper(const RunSpec& spec, Problems& problems)
{
  const auto& wrapper = spec.resources.wrapper;
  if (!wrapper.empty() && wrapper.front().empty())
    problems.push_back({{"resources.wrapper"}, "`resources.wrapper` begins with an empty word; write a program's name first"});
  if (!wrapper.empty() && spec.is_simulated())
    problems.push_back({{"resources.wrapper", "resources.platform"},
                        "a simulated run starts no ranks, so there is nothing to wrap; remove "
                        "`resources.wrapper`"});
}

// "SOURCE:TARGET" or "SOURCE:TARGET:ro", with absolute paths. Commas separate mounts in the words of the runtimes.
bool is_mount(const std::string& text)
{
  const auto parts = split(text, ':');
  const bool has_flags = parts.size() == 3 && (parts[2] == "ro" || parts[2] == "rw");
  return (parts.size() == 2 || has_flags) && parts[0].starts_with('/') && parts[1].starts_with('/') &&
         text.find(',') == std::string::npos;
}

// An image that is a file with a relative path: a job runs in another folder.
bool is_relative_file(const std::string& image)
{
  const bool is_file = image.ends_with(".sif") || image.ends_with(".sqsh") || image.starts_with("./") || image.starts_with("../");
  return is_file && image.find("://") == std::string::npos && !image.starts_with('/');
}

void check_container(const RunSpec& spec, Problems& problems)
{
  const auto& container = spec.resources.container;
  const auto add = [&](std::string_view key, const std::string& message) { problems.push_back({{key}, message}); };
  if (!spec.has_container()) {
    for (const auto& [key, is_given] :
         {std::pair{"resources.container.runtime", container.runtime != ContainerRuntime::apptainer},
          std::pair{"resources.container.mounts", !container.mounts.empty()}})
      if (is_given)
        add(key, ticked(key) + " has an effect only together with `resources.container.image`; give it, or remove the key");
    return;
  }
  if (!spec.is_own_program())
    add("resources.container.image",
        "a container holds a program of your own (`program.command`), and dtengine runs on the node "
        "itself; remove `resources.container`, or put a container with MPI and dtengine's libraries in "
        "front of it with `resources.wrapper`");
  if (spec.program.sync)
    add("resources.container.image",
        "the block `sync` needs the library of dtctl_sync and its MPI, which an image does not have; "
        "remove `resources.container`, or the block `sync`");
  if (container.runtime == ContainerRuntime::pyxis && spec.resources.launcher != "srun")
    problems.push_back({{"resources.container.runtime", "resources.launcher"},
                        "pyxis is a plugin of srun, but `resources.launcher` is " + spec.resources.launcher +
                            "; set it to srun, or choose another `resources.container.runtime`"});
  if (is_relative_file(container.image))
    add("resources.container.image", "`resources.container.image` is the file " + ticked(container.image) +
                                         ", and jobs run in other folders; write its absolute path");
  for (const auto& mount : container.mounts)
    if (!is_mount(mount))
      add("resources.container.mounts", "`resources.container.mounts` has " + ticked(mount) +
                                            "; write SOURCE:TARGET or SOURCE:TARGET:ro with absolute paths, without commas");
}

void check_gpus(const RunSpec& spec, Problems& problems)
{
  const auto& resources = spec.resources;
  const auto per_node = resources.gpus_per_node, per_rank = resources.gpus_per_rank;
  if (per_node == 0 && per_rank == 0) return;
  const std::string_view given = per_node > 0 ? "resources.gpus_per_node" : "resources.gpus_per_rank";
  if (!spec.is_own_program()) {
    problems.push_back({{given},
                        "dtengine computes on processor cores and uses no GPU; remove " + ticked(given) +
                            ", or run a program of your own (`program.command`)"});
  } else if (per_node == 0) {
    problems.push_back({{given},
                        "`resources.gpus_per_rank` needs GPUs, but `resources.gpus_per_node` is 0; remove "
                        "`resources.gpus_per_node`, and each job "
                        "asks for the GPUs of its ranks"});
  } else if (per_rank * resources.ranks_per_node > per_node) {
    problems.push_back({{"resources.gpus_per_rank", "resources.gpus_per_node", "study.ranks", "resources.ranks_per_node"},
                        std::to_string(resources.ranks_per_node) + " ranks on a node with " + std::to_string(per_rank) +
                            " GPUs each (`resources.gpus_per_rank`) need " + std::to_string(per_rank * resources.ranks_per_node) +
                            ", but `resources.gpus_per_node` is " + std::to_string(per_node)});
  }
}

} // namespace

void find_program_problems(const RunSpec& spec, std::vector<Problem>& problems)
{
  check_command(spec, problems);
  check_samples(spec, problems);
  check_throughput(spec, problems);
  check_observation(spec, problems);
  check_own_launcher(spec, problems);
  check_parameters(spec, problems);
  check_wrapper(spec, problems);
  check_container(spec, problems);
  check_gpus(spec, problems);
}

} // namespace dt::recipes
