#include "jobs/slurm/access/site_output.hpp"

#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/slurm/access/output.hpp"
#include "jobs/slurm/access/site_facts.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

using Fields = std::map<std::string, std::string>;

std::string field_of(const Fields& fields, const std::string& key)
{
  const auto field = fields.find(key);
  return field == fields.end() ? std::string() : field->second;
}

// The value of a field that every release prints.
std::string needed_field(std::string_view command, const Fields& fields, const std::string& key, std::string_view text)
{
  const auto field = fields.find(key);
  if (field != fields.end()) return field->second;
  throw unreadable(command, "without " + key, text);
}

// The records of the lines that begin with "KEY="; a site may print others. `none`: what the command says if there are none.
std::vector<Fields> records_with(std::string_view command, std::string_view text, const std::string& key, std::string_view none)
{
  std::vector<Fields> records;
  for (const auto& line : split(text, '\n'))
    if (line.starts_with(key + "=")) records.push_back(read_record(line));
  const bool is_told = !records.empty() || trim(text).empty() || text.find(none) != text.npos;
  if (!is_told) throw unreadable(command, "not lines of " + key, text);
  return records;
}

std::int64_t number_in(std::string_view command, const Fields& fields, const std::string& key, std::string_view text)
{
  return read_number(command, key, needed_field(command, fields, key, text));
}

// 0 for UNLIMITED.
std::int64_t count_limit(const std::string& text) { return number_of<std::int64_t>(text).value_or(0); }

// The number after "name=" in a list such as SchedulerParameters; 0 if it is missing.
std::int64_t parameter(const std::string& list, const std::string& name)
{
  const auto text = "," + list, key = "," + name + "=";
  const auto place = text.find(key);
  return place == std::string::npos ? 0
                                    : leading_number<std::int64_t>(std::string_view(text).substr(place + key.size())).value_or(0);
}

SlurmPartition read_partition(const Fields& fields, std::string_view text)
{
  constexpr std::string_view command = "scontrol show partition";
  SlurmPartition partition;
  partition.name = needed_field(command, fields, "PartitionName", text);
  partition.nodes = number_in(command, fields, "TotalNodes", text);
  partition.cpus = number_in(command, fields, "TotalCPUs", text);
  partition.max_time_s = parse_duration_s(needed_field(command, fields, "MaxTime", text)).value_or(0); // 0 for UNLIMITED
  partition.max_nodes_per_job = count_limit(needed_field(command, fields, "MaxNodes", text));
  partition.is_default = field_of(fields, "Default") == "YES";
  partition.is_up = needed_field(command, fields, "State", text) == "UP";
  return partition;
}

// Whether jobs can run on a node in the state "IDLE+CLOUD+POWERED_DOWN".
bool can_run_jobs(const std::string& state)
{
  constexpr std::array<std::string_view, 4> usable{"IDLE", "ALLOCATED", "MIXED", "ALLOC"};
  constexpr std::array<std::string_view, 7> unusable{"DRAIN", "FAIL", "NOT_RESPONDING", "MAINTENANCE", "NO_RESPOND",
                                                     "MAINT", "DOWN"};
  const auto has = [](const auto& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  const auto words = split(state, '+');
  return has(usable, words.front()) &&
         std::none_of(words.begin() + 1, words.end(), [&](const auto& word) { return has(unusable, word); });
}

SlurmNode read_node(const Fields& fields, std::string_view text)
{
  constexpr std::string_view command = "scontrol show node";
  SlurmNode node;
  node.name = needed_field(command, fields, "NodeName", text);
  node.state = needed_field(command, fields, "State", text);
  node.cpus = number_in(command, fields, "CPUTot", text);
  node.memory_mib = number_in(command, fields, "RealMemory", text);
  node.partitions = field_of(fields, "Partitions");
  node.reason = field_of(fields, "Reason");
  if (const auto who = node.reason.rfind(" ["); who != std::string::npos) node.reason.erase(who); // " [root@1795822608]"
  node.is_usable = can_run_jobs(node.state);
  return node;
}

} // namespace

SlurmSite read_site(std::string_view text)
{
  constexpr std::string_view command = "scontrol show config";
  const auto settings = read_settings(text);
  const auto number = [&](const std::string& key) { return number_in(command, settings, key, text); };
  SlurmSite site;
  site.version = needed_field(command, settings, "slurm_version", text);
  site.cluster = needed_field(command, settings, "clustername", text);
  site.max_array_size = number("maxarraysize");
  site.max_array_tasks = parameter(field_of(settings, "schedulerparameters"), "max_array_tasks");
  site.max_jobs = number("maxjobcount");
  site.min_job_age_s = number("minjobage");
  site.has_accounting = needed_field(command, settings, "accountingstoragetype", text) == accounting_by_slurmdbd;
  site.mpi_default = field_of(settings, "mpidefault");
  site.mpi_plugins = mpi_plugins(field_of(settings, "plugindir"));
  site.demands_account = field_of(settings, "accountingstorageenforce").find("associations") != std::string::npos;
  return site;
}

std::vector<SlurmPartition> read_partitions(std::string_view text)
{
  std::vector<SlurmPartition> partitions;
  for (const auto& fields : records_with("scontrol show partition", text, "PartitionName", "No partitions"))
    partitions.push_back(read_partition(fields, text));
  return partitions;
}

std::vector<SlurmNode> read_nodes(std::string_view text)
{
  std::vector<SlurmNode> nodes;
  for (const auto& fields : records_with("scontrol show node", text, "NodeName", "No nodes"))
    nodes.push_back(read_node(fields, text));
  return nodes;
}

std::vector<SlurmReservation> read_reservations(std::string_view text)
{
  constexpr std::string_view command = "scontrol show reservation";
  std::vector<SlurmReservation> reservations;
  for (const auto& fields : records_with(command, text, "ReservationName", "No reservations"))
    reservations.push_back({field_of(fields, "ReservationName"), field_of(fields, "Nodes"),
                            read_moment(command, needed_field(command, fields, "StartTime", text)),
                            read_moment(command, needed_field(command, fields, "EndTime", text))});
  return reservations;
}

std::vector<std::string> read_accounts(std::string_view text, const std::string& cluster)
{
  std::vector<std::string> accounts;
  for (const auto& line : split(trim(text), '\n')) {
    const auto fields = split(line, '|');
    if (fields.size() < 2) continue; // a banner of the site
    if (fields.size() != 3) throw unreadable("sacctmgr show user", "not three columns", line);
    const bool is_new = std::find(accounts.begin(), accounts.end(), fields[1]) == accounts.end();
    if (fields[1].empty() || (!cluster.empty() && fields[2] != cluster) || !is_new) continue;
    accounts.insert(fields[0] == fields[1] ? accounts.begin() : accounts.end(), fields[1]);
  }
  return accounts;
}

std::vector<std::string> read_controllers(std::string_view text)
{
  std::vector<std::string> names;
  for (const auto& line : split(text, '\n'))
    if (const auto at = line.rfind(" at "), is = line.rfind(" is "); at != line.npos && is != line.npos && at < is)
      names.push_back(line.substr(at + 4, is - at - 4));
  return names;
}

bool is_any_up(std::string_view text) { return text.find(" is UP") != text.npos; }

std::string read_release(std::string_view text)
{
  const auto begin = text.find_first_of("0123456789");
  if (begin == text.npos) return {};
  const auto parts = split(trim(text.substr(begin)), '.');
  return parts.size() < 2 ? std::string() : parts[0] + "." + parts[1];
}

} // namespace dt::jobs::slurm
