#include "jobs/slurm/access/queue_output.hpp"

#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/slurm/access/array_tasks.hpp"
#include "jobs/slurm/access/output.hpp"
#include "jobs/slurm/access/site_facts.hpp"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace dt::jobs::slurm {
namespace {

// Of squeue and sacct from 20.11 to 25.11. Texts that people write come last.
constexpr Column queue_columns[]{{"id", "JobID"},
                                 {"array", "JobArrayID"},
                                 {"state", "State"},
                                 {"exit code", "exit_code"},
                                 {"worst code", "DerivedEC"},
                                 {"submitted", "SubmitTime"},
                                 {"started", "StartTime"},
                                 {"run time", "TimeUsed"},
                                 {"restarts", "RestartCnt"},
                                 {"limit", "TimeLimit"},
                                 {"partition", "Partition"},
                                 {"nodes", "NodeList"},
                                 {"reason", "Reason"},
                                 {"dependency", "Dependency"},
                                 {"name", "Name"},
                                 {"comment", "Comment"}};
constexpr Column past_columns[]{{"id", "JobIDRaw"},
                                {"array", "JobID"},
                                {"state", "State"},
                                {"exit code", "ExitCode"},
                                {"worst code", "DerivedExitCode"},
                                {"submitted", "Submit"},
                                {"started", "Start"},
                                {"limit", "Timelimit"},
                                {"partition", "Partition"},
                                {"nodes", "NodeList"},
                                {"reason", "Reason"},
                                {"name", "JobName"},
                                {"comment", "SubmitLine"},
                                {"failed node", "FailedNode"}};

std::span<const Column> columns_of_past(bool has_failed_node)
{
  return std::span(past_columns).first(std::size(past_columns) - (has_failed_node ? 0 : 1));
}

// A wait status of "768" (squeue before 23.02), "-2" (none), "3:0" (exit code and signal) or nothing.
std::uint32_t wait_status(std::string_view command, std::string_view text)
{
  if (text.empty()) return 0;
  const auto colon = text.find(':');
  const auto first = number_of<std::int64_t>(text.substr(0, colon));
  const auto signal = colon == text.npos ? std::optional<std::int64_t>(0) : number_of<std::int64_t>(text.substr(colon + 1));
  if (!first || !signal) throw unreadable(command, "an exit code", text);
  if (colon == text.npos) return *first < 0 ? 0 : static_cast<std::uint32_t>(*first);
  return static_cast<std::uint32_t>((*first << 8) | *signal);
}

std::uint32_t id_in(std::string_view command, std::string_view text)
{
  if (const auto id = number_of<std::uint32_t>(text)) return *id;
  throw unreadable(command, "a job's number", text);
}

// "2_17", "2_[3-9%2]" or "2": the array and its tasks.
void put_array(SlurmRecord& record, std::string_view command, std::string_view id)
{
  const auto mark = id.find('_');
  if (mark == id.npos) return;
  record.array_id = id_in(command, id.substr(0, mark));
  auto tasks = id.substr(mark + 1);
  if (tasks.starts_with('[')) tasks = tasks.substr(1, tasks.find(']') - 1);
  record.tasks = expand_array_tasks(tasks);
  if (record.tasks.empty()) throw unreadable(command, "an array's tasks", tasks);
}

// sacct prints "CANCELLED by 1000".
void put_state(SlurmRecord& record, std::string_view text)
{
  const auto by = text.find(" by ");
  record.state = text.substr(0, by);
  record.phase = phase_of(record.state);
  if (by == text.npos) return;
  if (const auto user = number_of<std::uint32_t>(text.substr(by + 4))) record.cancelled_by = user_name(*user);
}

// squeue prints the details of a reason in its place. They often begin with Slurm's word of the reason.
std::string reason_in(std::string_view text, JobPhase phase)
{
  const auto end = static_cast<std::size_t>(
      std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }) - text.begin());
  if (end == text.size() || text[end] == ',' || text[end] == ':') return std::string(text.substr(0, end));
  if (text.find("held") != text.npos) return "JobHeldUser";
  if (text.starts_with("Nodes required for job")) return "Resources";
  if (text.starts_with("Reservation")) return "ReservationDeleted";
  return phase == JobPhase::failed ? "JobLaunchFailure" : std::string(text);
}

SlurmRecord record_of(std::string_view command, const Row& row)
{
  SlurmRecord record;
  record.id = id_in(command, row["id"]);
  put_array(record, command, row["array"]);
  put_state(record, row["state"]);
  record.reason = reason_in(row["reason"], record.phase);
  if (record.reason != row["reason"]) record.reason_details = row["reason"];
  record.nodes = row["nodes"];
  record.failed_node = row["failed node"];
  record.exit_status = wait_status(command, row["exit code"]);
  record.derived_exit_status = wait_status(command, row["worst code"]);
  record.submit_unix_s = read_moment(command, row["submitted"]);
  record.start_unix_s = read_moment(command, row["started"]);
  record.time_limit_s = parse_duration_s(row["limit"]).value_or(0); // 0 for UNLIMITED, NOT_SET, INVALID
  record.partition = row["partition"];
  record.dependency = row["dependency"];
  record.name = row["name"];
  record.comment = row["comment"];
  return record;
}

} // namespace

std::string squeue_format()
{
  std::string format;
  for (const auto& column : queue_columns) {
    if (!format.empty()) format += ',';
    format += column.name;
    format += ':'; // no width, so that squeue cuts nothing off
    format += field_end;
  }
  return format;
}

// squeue prints a line for each waiting task of an array; those that Slurm keeps as one job have one number.
std::vector<SlurmRecord> read_queue(std::string_view text, std::int64_t now_unix_s)
{
  std::vector<SlurmRecord> records;
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (const auto& row : read_table("squeue", text, queue_columns)) {
    auto record = record_of("squeue", row);
    const auto [place, is_new] = places.try_emplace(record.id, records.size());
    if (!is_new) {
      auto& tasks = records[place->second].tasks;
      tasks.insert(tasks.end(), record.tasks.begin(), record.tasks.end());
      continue;
    }
    record.restarts = static_cast<int>(read_number("squeue", "a restart count", row["restarts"]));
    if (record.phase == JobPhase::running && record.start_unix_s > 0)
      record.suspended_s =
          std::max<std::int64_t>(0, now_unix_s - record.start_unix_s - parse_duration_s(row["run time"]).value_or(0));
    records.push_back(std::move(record));
  }
  return records;
}

std::string sacct_format(bool has_failed_node)
{
  std::string format;
  for (const auto& column : columns_of_past(has_failed_node)) format += (format.empty() ? "" : ",") + std::string(column.name);
  return format;
}

std::vector<SlurmRecord> read_past(std::string_view text, bool has_failed_node)
{
  std::vector<SlurmRecord> records;
  for (const auto& row : read_table("sacct", text, columns_of_past(has_failed_node))) records.push_back(record_of("sacct", row));
  return records;
}

} // namespace dt::jobs::slurm
