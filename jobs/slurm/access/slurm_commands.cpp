#include "jobs/slurm/access/slurm_commands.hpp"

#include "core/error.hpp"
#include "core/files/paths.hpp"
#include "core/machine/process.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/slurm/access/failure_text.hpp"
#include "jobs/slurm/access/output.hpp"
#include "jobs/slurm/access/queue_output.hpp"
#include "jobs/slurm/access/sbatch_words.hpp"
#include "jobs/slurm/access/site_facts.hpp"
#include "jobs/slurm/access/site_output.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

#include <fmt/format.h>
#include <unistd.h>

namespace dt::jobs::slurm {
namespace {

namespace fs = std::filesystem;

// Slurm's commands give up by themselves after a few times MessageTimeout (10 s); these limits end what hangs otherwise.
constexpr double command_limit_s = 60, submission_limit_s = 120, accounting_limit_s = 300;

// How long a command may take before it is looked whether a controller listens at all, and how long that look may take.
constexpr double patience_s = 0.4, ping_limit_s = 3;

// Variables by which users change what the commands choose and print; SLURM_CLUSTERS sends them to another cluster.
bool changes_commands(std::string_view name)
{
  constexpr std::array<std::string_view, 5> prefixes{"SBATCH_", "SQUEUE_", "SACCT_", "SCANCEL_", "SCONTROL_"};
  constexpr std::array<std::string_view, 4> names{"SLURM_CLUSTERS", "SLURM_TIME_FORMAT", "SLURM_BITSTR_LEN", "SLURM_EXIT_ERROR"};
  return std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return name.starts_with(prefix); }) ||
         std::find(names.begin(), names.end(), name) != names.end();
}

std::string variable_or_nothing(const char* name)
{
  const char* text = std::getenv(name);
  return text == nullptr ? std::string() : text;
}

std::map<std::string, std::string> own_environment()
{
  std::map<std::string, std::string> environment;
  for (char** word = environ; *word != nullptr; ++word) {
    const std::string_view text(*word);
    const auto equals = text.find('=');
    if (equals != text.npos && !changes_commands(text.substr(0, equals)))
      environment.try_emplace(std::string(text.substr(0, equals)), text.substr(equals + 1));
  }
  environment["SLURM_TIME_FORMAT"] = "%s"; // seconds since 1970
  environment["SLURM_BITSTR_LEN"] = "0";   // otherwise the list of an array's waiting tasks is cut at 64 characters
  return environment;
}

// Of sbatch, which hands it down to the job.
std::map<std::string, std::string> environment_of(const SlurmJob& job)
{
  auto environment = job.environment;
  std::erase_if(environment, [](const auto& variable) { return changes_commands(variable.first); });
  if (auto conf = variable_or_nothing("SLURM_CONF"); !conf.empty()) environment["SLURM_CONF"] = std::move(conf);
  return environment;
}

CommandResult call_command(const std::vector<std::string>& words, const CommandSetting& setting)
{
  try {
    return run_command(words, setting);
  } catch (const SystemError& error) {
    throw SlurmFailure(refused_by_command, fmt::format("{} cannot be started: {}", words.front(), error.what()));
  }
}

// The standard output of a command that succeeds.
std::string output_of(const std::vector<std::string>& words, double time_s,
                      const std::function<bool(std::string_view)>& is_enough = {})
{
  const auto environment = own_environment();
  const auto result = call_command(words, {.timeout_s = time_s, .environment = &environment, .is_enough = is_enough});
  if (!result.ok()) throw failure_of(words.front(), result);
  if (result.err.find("Invalid") != std::string::npos && result.err.find("format") != std::string::npos)
    throw unreadable(words.front(), "because it does not know a field", result.err);
  return result.out;
}

std::string job_list(std::span<const std::uint32_t> ids)
{
  std::string list;
  for (const auto id : ids) list += (list.empty() ? "" : ",") + std::to_string(id);
  return list;
}

// sacct takes commas, brackets and quotes in names for its own.
bool is_plain(const std::string& name)
{
  return std::none_of(name.begin(), name.end(), [](unsigned char c) {
    return c <= ' ' || std::string_view(",[]{}\"'\\").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::vector<std::string> scontrol_show(const char* what, const std::string& list = {})
{
  std::vector<std::string> words{"scontrol", "--all", "--local", "--oneliner", "show", what};
  if (!list.empty()) words.push_back(list);
  return words;
}

} // namespace

SlurmCommands::SlurmCommands(std::string release, std::unique_ptr<SlurmLibrary> library)
    : release_(std::move(release)), library_(std::move(library))
{
}

std::string SlurmCommands::controller() const
{
  if (controller_.empty()) controller_ = join(read_controllers(ping()), ", ");
  if (controller_.empty()) controller_ = "the address of its configuration";
  return controller_;
}

std::string SlurmCommands::cluster() { return library_ ? library_->cluster() : site().cluster; }

bool SlurmCommands::has_accounting() { return library_ ? library_->has_accounting() : site().has_accounting; }

// A controller that is held still does not even answer this.
std::string SlurmCommands::ping() const
{
  const auto environment = own_environment();
  return call_command({"scontrol", "ping"}, {.timeout_s = ping_limit_s, .environment = &environment}).out;
}

std::string SlurmCommands::read(const std::vector<std::string>& words) const
{
  const double begun_unix_s = now_unix_s();
  bool has_looked = false, is_down = false;
  const auto look = [&](std::string_view) {
    if (has_looked || now_unix_s() - begun_unix_s < patience_s) return false;
    has_looked = true;
    const auto answer = ping();
    return is_down = !answer.empty() && !is_any_up(answer);
  };
  try {
    return output_of(words, command_limit_s, look);
  } catch (const SlurmFailure&) {
    if (is_down) throw SlurmFailure(1800, "Unable to contact slurm controller (connect failure)");
    throw;
  }
}

const SlurmSite& SlurmCommands::site()
{
  if (!site_) site_ = read_site(read({"scontrol", "show", "config"}));
  return *site_;
}

std::vector<SlurmPartition> SlurmCommands::partitions() { return read_partitions(read(scontrol_show("partition"))); }

std::vector<SlurmNode> SlurmCommands::nodes(const std::string& list) { return read_nodes(read(scontrol_show("node", list))); }

std::vector<SlurmReservation> SlurmCommands::reservations() { return read_reservations(read(scontrol_show("reservation"))); }

std::vector<std::string> SlurmCommands::accounts()
{
  return read_accounts(output_of({"sacctmgr", "--parsable2", "--noheader", "show", "user", user_name(getuid()), "withassoc",
                                  "format=DefaultAccount,Account,Cluster"},
                                 command_limit_s),
                       cluster());
}

// sbatch would wait minutes for room in a full queue; it is ended while it sleeps before its first new try.
std::uint32_t SlurmCommands::submit(const SlurmJob& job)
{
  if (library_ && job.passed_options.empty()) return library_->submit(job);
  auto words = sbatch_words(job);
  std::error_code error;
  const bool has_file = fs::path(job.script_path).is_absolute() && fs::is_regular_file(job.script_path, error);
  if (has_file) words.push_back(job.script_path); // so that Slurm shows it as the job's command
  const auto environment = environment_of(job);
  const auto result = call_command(words, {.timeout_s = submission_limit_s,
                                           .input = has_file ? std::string_view() : std::string_view(job.script),
                                           .environment = &environment,
                                           .is_enough = waits_for_room});
  if (!result.ok()) throw failure_of("sbatch", result);
  for (const auto& line : split(result.out, '\n')) // a site may print other lines
    if (const auto id = number_of<std::uint32_t>(trim(line).substr(0, line.find(';'))))
      return *id; // "12;cluster" in a federation
  throw unreadable("sbatch", "no job's number", result.out);
}

// --array: otherwise squeue joins waiting tasks of an array that were held or started again with the rest, and their reasons with
// it.
std::vector<SlurmRecord> SlurmCommands::load_jobs()
{
  if (library_) return library_->load_jobs();
  const auto now_unix_s = static_cast<std::int64_t>(dt::now_unix_s());
  return read_queue(read({"squeue", "--all", "--local", "--array", "--states=all", fmt::format("--user={}", getuid()),
                          "--Format=" + squeue_format()}),
                    now_unix_s);
}

std::vector<SlurmRecord> SlurmCommands::load_past(const PastQuery& query)
{
  const bool has_failed_node = release_ >= "23.02";
  std::vector<std::string> words{"sacct",
                                 "--allocations",
                                 "--duplicates",
                                 "--parsable",
                                 fmt::format("--delimiter={}", field_end),
                                 fmt::format("--user={}", getuid()),
                                 "--format=" + sacct_format(has_failed_node)};
  if (query.since_unix_s > 0)
    words.push_back(fmt::format("--starttime=uts{}", std::max<std::int64_t>(query.since_unix_s, 1'000'000)));
  if (!query.ids.empty()) words.push_back("--jobs=" + job_list(query.ids));
  if (!query.names.empty() && std::all_of(query.names.begin(), query.names.end(), is_plain))
    words.push_back("--name=" + join(query.names, ","));
  return read_past(output_of(words, accounting_limit_s), has_failed_node);
}

void SlurmCommands::kill(const std::string& id)
{
  if (library_) return library_->kill(id);
  const auto environment = own_environment();
  const auto result = call_command({"scancel", "--quiet", id}, {.timeout_s = command_limit_s, .environment = &environment});
  if (!result.ok()) throw failure_of("scancel", result);
}

std::vector<std::string> missing_commands()
{
  std::vector<std::string> missing;
  for (const auto* name : {"sbatch", "squeue", "scancel", "scontrol"})
    if (find_installed(name).empty()) missing.emplace_back(name);
  return missing;
}

} // namespace dt::jobs::slurm
