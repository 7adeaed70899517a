#include "engine/train/record/environment.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/machine/host_list.hpp"
#include "core/machine/process.hpp"
#include "core/machine/surroundings.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "engine/train/record/cpu_info.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>
#include <oneapi/dnnl/dnnl.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace dt::train {
namespace {

// "Open MPI v4.1.4": the library's text up to the first comma or line end.
std::string mpi_version()
{
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string whole(text.data(), static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

std::string dnnl_version_text()
{
  const auto* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

std::string compiler()
{
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::int64_t memory_bytes() { return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE); }

struct Variable {
  const char* key;
  const char* name;
};
constexpr std::array variables{
    Variable{"modules", "LOADEDMODULES"},
    Variable{"when_idle", "DTCTL_WHEN_IDLE"},
    Variable{"slurm_version", "DTCTL_SLURM_VERSION"},
    Variable{"slurm_cluster", "SLURM_CLUSTER_NAME"},
    Variable{"slurm_job_id", "SLURM_JOB_ID"},
    Variable{"slurm_array_job_id", "SLURM_ARRAY_JOB_ID"},
    Variable{"slurm_array_task", "SLURM_ARRAY_TASK_ID"},
    Variable{"slurm_restart_count", "SLURM_RESTART_COUNT"},
    Variable{"slurm_partition", "SLURM_JOB_PARTITION"},
    Variable{"slurm_qos", "SLURM_JOB_QOS"},
    Variable{"slurm_account", "SLURM_JOB_ACCOUNT"},
    Variable{"slurm_node_list", "SLURM_JOB_NODELIST"},
};

using Environment = std::map<std::string, std::string>;

std::string variable(const char* name)
{
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void add(Environment& environment, const std::string& key, const std::string& value)
{
  if (!value.empty()) environment[key] = value;
}

// ---- facts that may differ between nodes ----

Environment node_facts()
{
  utsname system{};
  uname(&system);
  const int core = cores_in_mask().front();
  Environment facts{
      {"cpu_model", cpu_info(core, "model name").value_or("unknown")},
      {"cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
      {"memory_bytes", std::to_string(memory_bytes())},
      {"kernel", fmt::format("{} {}", system.sysname, system.release)},
  };
  add(facts, "clock_governor", cpu_frequency(core, "scaling_governor").value_or(""));
  const auto least = cpu_frequency(core, "scaling_min_freq"), most = cpu_frequency(core, "scaling_max_freq");
  if (least && most) facts["clock_limits_khz"] = *least + "-" + *most;
  if (variable("SLURM_TOPOLOGY_ADDR_PATTERN") != "node") // that pattern repeats only the node's name
    add(facts, "slurm_topology", variable("SLURM_TOPOLOGY_ADDR"));
  return facts;
}

std::string to_lines(const Environment& facts)
{
  std::string text;
  for (const auto& [key, value] : facts) text += key + "=" + value + "\n";
  return text;
}

std::string value_in(const std::string& lines, const std::string& key)
{
  for (const auto& line : split(lines, '\n'))
    if (line.starts_with(key + "=")) return line.substr(key.size() + 1);
  return "none";
}

// The first rank of each host.
std::vector<std::size_t> first_ranks(const std::vector<std::string>& hosts)
{
  std::set<std::string_view> seen;
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < hosts.size(); ++r)
    if (seen.insert(hosts[r]).second) ranks.push_back(r);
  return ranks;
}

// Facts of this rank's node, and the values of all nodes where they differ. Collective.
Environment describe_nodes(comm::Communicator& comm)
{
  const auto facts = node_facts();
  const auto hosts = comm.gather_texts(host_name());
  const auto lines = comm.gather_texts(to_lines(facts));
  Environment all = facts;
  const auto ranks = first_ranks(hosts);
  for (const auto& [key, own] : facts) {
    std::vector<std::pair<std::string, std::string>> values;
    for (const auto r : ranks) values.emplace_back(hosts[r], value_in(lines[r], key));
    add(all, key + "_by_node", list_by_node(values));
  }
  all["node_list"] = compact_hosts(hosts);
  return all;
}

// ---- how the program was started, and from which sources ----

// "btl=self,tcp mpi_yield_when_idle=1": the user's settings for Open MPI and its transports, without the settings that mpirun
// passes to its ranks.
std::string mpi_settings()
{
  constexpr std::string_view mca = "OMPI_MCA_";
  const std::array inner{"orte_", "ess", "pmix", "shmem_RUNTIME", "initial_wdir", "mpi_oversubscribe", "plm_"};
  std::vector<std::string> settings;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    if (text.starts_with(mca)) {
      text.remove_prefix(mca.size());
      if (std::any_of(inner.begin(), inner.end(), [&](const char* prefix) { return text.starts_with(prefix); })) continue;
    } else if (!text.starts_with("UCX_") && !text.starts_with("FI_")) {
      continue;
    }
    settings.emplace_back(text);
  }
  std::sort(settings.begin(), settings.end());
  return join(settings, " ");
}

std::string launcher()
{
  if (!variable("OMPI_COMM_WORLD_SIZE").empty()) return "mpirun";
  if (!variable("SLURM_STEP_ID").empty()) return "srun --mpi=" + variable("SLURM_MPI_TYPE");
  return "none";
}

// Used if the job did not export the version. `scontrol --version` needs no connection to the controller.
std::string slurm_version()
{
  if (variable("SLURM_JOB_ID").empty()) return "";
  try {
    const auto answer = run_command({"scontrol", "--version"}, 2);
    return answer.ok() ? std::string(trim(answer.out)) : "";
  } catch (const Error&) {
    return ""; // not installed on this node
  }
}

// "commit 0123… (main)" of the repository that contains the working folder. Does not check for modified files.
std::string repository_commit()
try {
  std::error_code none;
  for (auto folder = std::filesystem::current_path(none); !folder.empty(); folder = folder.parent_path()) {
    const auto head = read_file_if_exists(folder / ".git" / "HEAD");
    if (head) {
      constexpr std::string_view mark = "ref: refs/heads/";
      const std::string name(trim(*head));
      if (!name.starts_with(mark)) return "commit " + name;
      const auto branch = name.substr(mark.size());
      const auto commit = read_file_if_exists(folder / ".git" / "refs" / "heads" / branch);
      return commit ? fmt::format("commit {} ({})", trim(*commit), branch) : "";
    }
    if (folder == folder.root_path()) break;
  }
  return "";
} catch (const Error&) { // .git is a file, as in a worktree, or not readable
  return "";
}

} // namespace

std::string engine_version() { return DTCTL_VERSION; }

std::string engine_build() { return read_build_id(own_program()); }

std::map<std::string, std::string> describe_environment(comm::Communicator& comm)
{
  auto environment = describe_nodes(comm);
  if (!comm.is_root()) return environment;
  utsname system{};
  uname(&system);
  environment.insert({{"architecture", system.machine},
                      {"mpi_version", mpi_version()},
                      {"dnnl_version", dnnl_version_text()},
                      {"compiler", compiler()},
                      {"build_type", DTCTL_BUILD_TYPE},
                      {"engine_version", engine_version()},
                      {"engine_build", engine_build()},
                      {"launcher", launcher()}});
  environment.merge(facts_of(own_surroundings()));
  add(environment, "mpi_settings", mpi_settings());
  for (const auto& [key, name] : variables) add(environment, key, variable(name));
  if (!environment.contains("slurm_version")) add(environment, "slurm_version", slurm_version());
  const auto given = variable("DTCTL_GIT_STATE");
  add(environment, "git_state", given.empty() ? repository_commit() : given);
  return environment;
}

std::string list_by_node(std::span<const std::pair<std::string, std::string>> values)
{
  std::vector<std::string> order; // distinct values in the order of their appearance
  std::map<std::string, std::vector<std::string>> hosts;
  for (const auto& [host, value] : values) {
    if (hosts[value].empty()) order.push_back(value);
    hosts[value].push_back(host);
  }
  if (order.size() < 2) return "";
  std::vector<std::string> parts;
  for (const auto& value : order) parts.push_back(compact_hosts(hosts[value]) + ": " + value);
  return join(parts, "; ");
}

} // namespace dt::train
