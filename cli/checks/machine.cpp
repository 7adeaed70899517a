#include "cli/checks/machine.hpp"

#include "cli/checks/home_on_nodes.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/machine/cpu_allowance.hpp"
#include "core/machine/memory.hpp"
#include "core/machine/process.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/machine/cores.hpp"
#include "jobs/registry/schedulers.hpp"
#include "store/database/database.hpp"
#include "store/database/file_system.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

// The checks of dtctl doctor for the clusters that can be reached from here.

std::vector<Finding> check_cluster(const Home& home, const jobs::SchedulerKind& kind)
try {
  const auto report = kind.examine();
  std::vector<Finding> findings;
  for (const auto& one : report.findings)
    findings.push_back({one.check, one.is_good ? Level::ok : Level::warn, one.found, one.advice});
  if (report.site) findings.push_back(check_home_on_nodes(home, kind.name(), *report.site));
  return findings;
} catch (const Error& error) {
  const auto advice = "runs with resources.scheduler: " + kind.name() + " cannot be submitted from here";
  return {{kind.name(), Level::warn, error.what(), advice}};
}

// Asks each cluster's scheduler about its limits, accounting, partitions and nodes, and whether the nodes see the home. To find
// out the latter, a short job may run.
std::vector<Finding> check_clusters(const Home& home)
{
  std::vector<Finding> findings;
  for (const auto* kind : jobs::scheduler_kinds())
    for (auto& finding : check_cluster(home, *kind)) findings.push_back(std::move(finding));
  return findings;
}

constexpr double gibibyte = 1024.0 * 1024 * 1024;
constexpr double command_timeout_s = 20;

std::string first_line(const std::string& text) { return std::string(trim(text.substr(0, text.find('\n')))); }

std::string text_in(const fs::path& path)
{
  try {
    return std::string(trim(read_file_if_exists(path).value_or("")));
  } catch (const Error&) { // no permission to read it
    return {};
  }
}

// The first line that a program prints. Empty if the program fails or cannot be run.
std::string answer_of(const std::vector<std::string>& words)
{
  try {
    const auto result = run_command(words, command_timeout_s);
    return result.ok() ? first_line(result.out + result.err) : "";
  } catch (const Error&) {
    return {};
  }
}

double free_bytes(const fs::path& path)
{
  struct statvfs space {};
  return ::statvfs(path.c_str(), &space) == 0 ? static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize) : 0;
}

fs::path nearest_existing(fs::path path)
{
  while (!fs::exists(path) && path.has_parent_path() && path != path.parent_path()) path = path.parent_path();
  return path;
}

} // namespace

std::string_view name_of(Level level)
{
  switch (level) {
  case Level::ok:
    return "ok";
  case Level::warn:
    return "warn";
  case Level::fail:
    return "fail";
  }
  return "fail";
}

namespace {

// Starts `dtengine --help`. It fails if one of its libraries is not installed, or if its build id cannot be read.
Finding check_installed_engine(const fs::path& program)
try {
  const auto result = run_command({program.string(), "--help"}, command_timeout_s);
  if (result.ok()) return {"engine", Level::ok, program.string() + ", build " + short_key(read_build_id(program)), ""};
  return {
      "engine", Level::fail, "dtengine does not start: " + first_line(result.err),
      "install Open MPI 4 or 5 (libmpi.so.40), or load its module; studies of your own program (program.command) do not need it"};
} catch (const Error& error) {
  return {"engine", Level::fail, error.what(), ""};
}

} // namespace

Finding check_engine()
{
  try {
    return check_installed_engine(engine_program());
  } catch (const Error&) {
    return {"engine", Level::warn, "dtengine is not installed; studies of your own program (program.command) do not need it",
            "for dtctl's own networks: unpack the engine's tarball here, or install the package dtctl-engine"};
  }
}

Finding check_agent()
{
  try {
    return {"dtjob", Level::ok, agent_program().string(), ""};
  } catch (const Error& error) {
    return {"dtjob", Level::fail, error.what(), ""};
  }
}

Finding check_recipes()
{
  const auto folder = recipe_library();
  if (folder.empty()) return {"recipes", Level::warn, "the shipped recipes are not installed", "give the paths of recipe files"};
  return {"recipes", Level::ok, folder.string(), ""};
}

Finding check_mpi()
{
  const auto version = answer_of({"mpirun", "--version"});
  if (version.empty())
    return {
        "mpi", Level::warn,
        "mpirun cannot be run; a program without MPI runs on one node with resources.launcher: dtjob, and on a cluster with srun",
        "for dtengine and programs that use MPI: install Open MPI (Debian: apt install openmpi-bin), or load its module"};
  const bool known = version.find("Open MPI") != std::string::npos;
  return {"mpi", known ? Level::ok : Level::warn, version, known ? "" : "dtctl supports Open MPI's mpirun only"};
}

Finding check_ranks()
{
  std::vector<std::string> words{"mpirun", "--oversubscribe", "-np", "2", "true"};
  if (::geteuid() == 0) words.insert(words.begin() + 1, "--allow-run-as-root");
  try {
    const auto result = run_command(words, command_timeout_s);
    if (result.ok()) return {"ranks", Level::ok, "mpirun starts 2 ranks", ""};
    const auto how = result.timed_out
                         ? std::string("hangs")
                         : fmt::format("ends with exit code {}: {}", result.exit_code, first_line(std::string(trim(result.err))));
    return {"ranks", Level::fail, "mpirun " + how, "run it by hand: " + shell_join(words)};
  } catch (const Error& error) {
    return {"ranks", Level::fail, error.what(), "install Open MPI first"};
  }
}

Finding check_python()
{
  const auto version = answer_of({"python3", "--version"});
  if (!version.empty()) return {"python", Level::ok, version + ", " + find_installed("python3").string(), ""};
  return {"python", Level::warn, "python3 cannot be run",
          "a Python program of your own needs it: install it, or name another in program.command"};
}

Finding check_figures()
{
  const auto version = answer_of({"gnuplot", "--version"});
  if (!version.empty()) return {"figures", Level::ok, version, ""};
  return {"figures", Level::warn, "gnuplot cannot be run; dtctl report and dtctl serve draw without it",
          "for dtctl plot: install gnuplot (Debian: apt install gnuplot-nox)"};
}

Finding check_cores()
{
  const auto allowance = cpu_allowance();
  const auto online = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  const auto found = fmt::format("{} of {} cores are available to dtctl (affinity mask)", allowance.cores.size(), online);
  if (allowance.has_quota())
    return {"cores", Level::warn, fmt::format("{}, but {}", found, allowance.quota_text()),
            fmt::format("the local scheduler uses {}, because ranks beyond the quota would be held back; start dtctl where more "
                        "processor time is allowed (docker run --cpus, CPUQuota of systemd)",
                        counted(allowance.whole_cores(), "core"))};
  if (allowance.cores.size() < online)
    return {"cores", Level::warn, found,
            "the local scheduler uses only these cores; start dtctl without taskset or numactl to use all"};
  return {"cores", Level::ok, found, ""};
}

Finding check_core_locks()
{
  const auto folder = jobs::CoreLocks::default_folder();
  try {
    const auto locks = jobs::CoreLocks::existing(folder);
  } catch (const Error& error) {
    return {"core locks", Level::fail, error.what(), "until then no run starts on this machine"};
  }
  if (const auto avoided = jobs::CoreLocks::avoided(); !avoided.empty())
    return {"core locks", Level::warn, avoided, "ask the administrator to remove that folder, or its owner"};
  return {"core locks", Level::ok, folder.string(), ""};
}

Finding check_hyperthreads()
{
  if (text_in("/sys/devices/system/cpu/smt/active") != "1")
    return {"hyperthreads", Level::ok, "off: each listed core is a physical core", ""};
  return {"hyperthreads", Level::warn, "on: two listed cores may share a physical core",
          "use at most half of the listed cores in a scaling study"};
}

Finding check_clock()
{
  const auto governor = text_in("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (governor.empty()) return {"clock", Level::ok, "the governor of the CPU clock cannot be read here", ""};
  const bool steady = governor == "performance";
  return {"clock", steady ? Level::ok : Level::warn, "CPU clock governor " + governor,
          steady ? "" : "for stable timings: cpupower frequency-set -g performance"};
}

Finding check_load()
{
  const double load = std::strtod(text_in("/proc/loadavg").c_str(), nullptr);
  const auto cores = cpu_allowance().cores.size();
  const auto found = fmt::format("load {:.2f} on {} cores", load, cores);
  if (load < 0.3 * static_cast<double>(cores)) return {"load", Level::ok, found, ""};
  return {"load", Level::warn, found, "other programs are running; measure when the machine is idle"};
}

Finding check_memory()
{
  const auto memory = machine_memory();
  const auto available = static_cast<double>(memory.available);
  const auto found = format_bytes(available) + " of " + format_bytes(static_cast<double>(memory.total)) + " available";
  if (available >= 2 * gibibyte) return {"memory", Level::ok, found, ""};
  return {"memory", Level::warn, found, "each rank needs memory for its data set and network; free some before larger runs"};
}

Finding check_shared_memory()
{
  const double bytes = free_bytes("/dev/shm");
  const auto found = format_bytes(bytes) + " in /dev/shm";
  if (bytes >= 64.0 * 1024 * 1024) return {"shared memory", Level::ok, found, ""};
  return {"shared memory", Level::warn, found,
          "ranks on one node communicate through shared memory; increase it (container: docker run --shm-size=1g)"};
}

Finding check_home(const Home& home)
{
  const auto folder = nearest_existing(home.root());
  const double bytes = free_bytes(folder);
  const auto found = home.root().string() + ", " + format_bytes(bytes) + " free";
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return {"home", Level::fail, home.root().string() + " cannot be written", "set DTCTL_HOME to another folder"};
  if (bytes < 0.05 * gibibyte) return {"home", Level::fail, found, "free some space, or set DTCTL_HOME to another folder"};
  if (bytes < gibibyte) return {"home", Level::warn, found, "free some space for data sets and run records"};
  if (const auto mode = open_mode(home.root()))
    return {"home", Level::warn, found + "; open to other users (mode " + *mode + ")",
            "the values of resources.env are stored there; close it: chmod -R go-rwx " + shell_quote(home.root().string())};
  return {"home", Level::ok, found, ""};
}

Finding check_project()
{
  const auto project = find_project_config(fs::current_path());
  if (!project.ignored.empty()) return {"project", Level::warn, project.ignored.front(), ""};
  return {"project", Level::ok, project.file.empty() ? "no dtctl.yaml in this folder or above it" : project.file.string(), ""};
}

Finding check_file_system(const Home& home)
{
  const auto system = store::file_system_at(nearest_existing(home.root()));
  if (system.local) return {"file system", Level::ok, system.name + " (local): the database uses a write-ahead log", ""};
  return {"file system", Level::warn, system.name + " (possibly not local): the database uses no write-ahead log",
          "run dtctl on one machine at a time, or set DTCTL_HOME to a folder on a local disk"};
}

Finding check_database(const Home& home)
{
  try {
    if (!store::holds_anything(home.database())) return {"database", Level::ok, "none yet; the first submission creates it", ""};
    const store::Database database(home.database(), store::Access::read_only);
    return {"database", Level::ok, fmt::format("{}, schema version {}", home.database().string(), database.version()), ""};
  } catch (const Error& error) {
    return {"database", Level::fail, error.what(), "run dtctl db migrate, or rebuild it from the run folders: dtctl db rebuild"};
  }
}

std::vector<Finding> check_machine(const Home& home)
{
  std::vector<Finding> findings{check_engine(), check_agent(), check_recipes(), check_mpi()};
  if (!find_installed("mpirun").empty()) findings.push_back(check_ranks());
  for (auto& finding : {check_python(), check_figures(), check_cores(), check_core_locks(), check_hyperthreads(), check_clock(),
                        check_load(), check_memory(), check_shared_memory()})
    findings.push_back(finding);
  for (auto& finding : check_clusters(home)) findings.push_back(std::move(finding));
  for (auto& finding : {check_home(home), check_project(), check_file_system(home), check_database(home)})
    findings.push_back(finding);
  return findings;
}

} // namespace dt::cli
