#include "jobs/slurm/access/queue_output.hpp"

#include "core/number.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/slurm/access/array_tasks.hpp"
#include "jobs/slurm/access/output.hpp"
#include "jobs/slurm/access/site_facts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

namespace dt::jobs::slurm {
namespace {

// Columns of squeue: its names of fields, from 20.11 to 25.11. Texts that people write come last.
struct Column {
  enum Place : std::size_t {
    job,
    array,
    task,
    state,
    exit_code,
    derived_exit_code,
    submit,
    start,
    end,
    used,
    restarts,
    limit,
    partition,
    nodes,
    reason,
    dependency,
    name,
    comment,
    columns
  };
};
constexpr std::array<std::string_view, Column::columns> queue_fields{
    "JobID",    "ArrayJobID", "ArrayTaskID", "State",     "exit_code", "DerivedEC", "SubmitTime", "StartTime", "EndTime",
    "TimeUsed", "RestartCnt", "TimeLimit",   "Partition", "NodeList",  "Reason",    "Dependency", "Name",      "Comment"};

struct PastColumn {
  enum Place : std::size_t {
    job,
    id,
    state,
    exit_code,
    derived_exit_code,
    submit,
    start,
    end,
    limit,
    partition,
    nodes,
    reason,
    name,
    submit_line,
    failed_node,
    columns
  };
};
constexpr std::array<std::string_view, PastColumn::columns> past_fields{
    "JobIDRaw",     "JobID",     "State",    "ExitCode", "DerivedExitCode", "Submit",     "Start",     "End",
    "TimelimitRaw", "Partition", "NodeList", "Reason",   "JobName",         "SubmitLine", "FailedNode"};

// What one word of squeue stands for. If a job has a flag, squeue prints the flag in place of the base state: then the base state
// is the one with which status_of says the right thing.
struct StateWord {
  std::string_view word;
  BaseState base;
  StateFlags flags{};
};
constexpr StateWord state_words[]{
    {"PENDING", BaseState::pending},
    {"RUNNING", BaseState::running},
    {"SUSPENDED", BaseState::suspended},
    {"COMPLETED", BaseState::complete},
    {"CANCELLED", BaseState::cancelled},
    {"FAILED", BaseState::failed},
    {"TIMEOUT", BaseState::timeout},
    {"NODE_FAIL", BaseState::node_fail},
    {"PREEMPTED", BaseState::preempted},
    {"BOOT_FAIL", BaseState::boot_fail},
    {"DEADLINE", BaseState::deadline},
    {"OUT_OF_MEMORY", BaseState::out_of_memory},
    {"COMPLETING", BaseState::running, {.completing = true}},
    {"STAGE_OUT", BaseState::running, {.completing = true}},
    {"CONFIGURING", BaseState::running, {.configuring = true}},
    {"POWER_UP_NODE", BaseState::running, {.configuring = true}},
    {"REQUEUED", BaseState::running, {.requeued = true}},
    {"REQUEUE_HOLD", BaseState::pending, {.held = true}},
    {"SPECIAL_EXIT", BaseState::pending, {.held = true}},
    {"REQUEUE_FED", BaseState::pending},
    {"RESV_DEL_HOLD", BaseState::pending},
    {"EXPEDITING", BaseState::pending},
    {"RESIZING", BaseState::running},
    {"SIGNALING", BaseState::running},
    {"STOPPED", BaseState::running},
    {"REVOKED", BaseState::cancelled},
};

void put_state_word(SlurmRecord& record, std::string_view word)
{
  constexpr std::uint32_t unknown = 0xff;
  const auto* row =
      std::find_if(std::begin(state_words), std::end(state_words), [&](const auto& one) { return one.word == word; });
  const bool is_known = row != std::end(state_words);
  record.state = word;
  record.base_state = is_known ? static_cast<std::uint32_t>(row->base) : unknown;
  if (is_known) record.flags = row->flags;
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

// squeue prints the details of a reason in its place. They often begin with Slurm's word of the reason.
std::string reason_in(std::string_view text, BaseState base)
{
  const auto end = static_cast<std::size_t>(
      std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }) - text.begin());
  if (end == text.size() || text[end] == ',' || text[end] == ':') return std::string(text.substr(0, end));
  if (text.find("held") != text.npos) return "JobHeldUser";
  if (text.starts_with("Nodes required for job")) return "Resources";
  if (text.starts_with("Reservation")) return "ReservationDeleted";
  return base == BaseState::failed ? "JobLaunchFailure" : std::string(text);
}

void put_reason(SlurmRecord& record, const std::string& text)
{
  record.reason = reason_in(text, static_cast<BaseState>(record.base_state));
  if (record.reason != text) record.reason_details = text;
}

// 0 for UNLIMITED, NOT_SET, INVALID.
std::int64_t seconds_in(std::string_view text) { return parse_duration_s(text).value_or(0); }

void put_node_names(SlurmRecord& record, const std::string& nodes)
{
  record.nodes = nodes == "None assigned" || nodes == "(null)" ? std::string() : nodes;
  if (record.base_state == static_cast<std::uint32_t>(BaseState::node_fail)) record.node_names = expand_nodes(record.nodes);
}

SlurmRecord queued_record(const std::vector<std::string>& row, std::int64_t now_unix_s)
{
  constexpr std::string_view command = "squeue";
  SlurmRecord record;
  record.id = id_in(command, row[Column::job]);
  if (row[Column::task] != "N/A") {
    record.array_id = id_in(command, row[Column::array]);
    record.tasks = expand_array_tasks(row[Column::task]);
    if (record.tasks.empty()) throw unreadable(command, "an array's tasks", row[Column::task]);
  }
  put_state_word(record, row[Column::state]);
  put_reason(record, row[Column::reason]);
  put_node_names(record, row[Column::nodes]);
  record.exit_status = wait_status(command, row[Column::exit_code]);
  record.derived_exit_status = wait_status(command, row[Column::derived_exit_code]);
  record.submit_unix_s = read_moment(command, row[Column::submit]);
  record.start_unix_s = read_moment(command, row[Column::start]);
  record.end_unix_s = read_moment(command, row[Column::end]);
  if (record.base_state == static_cast<std::uint32_t>(BaseState::running) && record.start_unix_s > 0)
    record.suspended_s = std::max<std::int64_t>(0, now_unix_s - record.start_unix_s - seconds_in(row[Column::used]));
  record.restarts = static_cast<int>(read_number(command, "a restart count", row[Column::restarts]));
  record.time_limit_s = seconds_in(row[Column::limit]);
  record.partition = row[Column::partition];
  record.dependency = row[Column::dependency] == "(null)" ? std::string() : row[Column::dependency];
  record.name = row[Column::name];
  record.comment = row[Column::comment] == "(null)" ? std::string() : row[Column::comment];
  return record;
}

// "2_17", "2_[3-9%2]" or "2": the array and its tasks.
void put_array(SlurmRecord& record, std::string_view id)
{
  const auto mark = id.find('_');
  if (mark == id.npos) return;
  record.array_id = id_in("sacct", id.substr(0, mark));
  auto tasks = id.substr(mark + 1);
  if (tasks.starts_with('[')) tasks = tasks.substr(1, tasks.find(']') - 1);
  record.tasks = expand_array_tasks(tasks);
}

// "CANCELLED by 1000".
void put_past_state(SlurmRecord& record, std::string_view text)
{
  const auto by = text.find(" by ");
  put_state_word(record, text.substr(0, by));
  if (by == text.npos) return;
  if (const auto user = number_of<std::uint32_t>(text.substr(by + 4))) record.cancelled_by = user_name(*user);
}

SlurmRecord past_record(const std::vector<std::string>& row)
{
  constexpr std::string_view command = "sacct";
  SlurmRecord record;
  record.id = id_in(command, row[PastColumn::job]);
  put_array(record, row[PastColumn::id]);
  put_past_state(record, row[PastColumn::state]);
  put_node_names(record, row[PastColumn::nodes]);
  record.exit_status = wait_status(command, row[PastColumn::exit_code]);
  record.derived_exit_status = wait_status(command, row[PastColumn::derived_exit_code]);
  record.submit_unix_s = read_moment(command, row[PastColumn::submit]);
  record.start_unix_s = read_moment(command, row[PastColumn::start]);
  record.end_unix_s = read_moment(command, row[PastColumn::end]);
  record.time_limit_s = number_of<std::int64_t>(row[PastColumn::limit]).value_or(0) * 60;
  record.partition = row[PastColumn::partition];
  record.reason = row[PastColumn::reason];
  record.name = row[PastColumn::name];
  record.comment = row[PastColumn::submit_line];
  if (row.size() > PastColumn::failed_node) record.failed_node = row[PastColumn::failed_node];
  return record;
}

} // namespace

std::string squeue_format()
{
  std::string format;
  for (const auto field : queue_fields) {
    if (!format.empty()) format += ',';
    format += field;
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
  for (const auto& row : read_table("squeue", text, Column::columns, "JOBID")) {
    auto record = queued_record(row, now_unix_s);
    const auto [place, is_new] = places.try_emplace(record.id, records.size());
    if (is_new)
      records.push_back(std::move(record));
    else
      records[place->second].tasks.insert(records[place->second].tasks.end(), record.tasks.begin(), record.tasks.end());
  }
  return records;
}

std::string sacct_format(bool has_failed_node)
{
  std::string format;
  for (const auto field : past_fields)
    if (has_failed_node || field != past_fields[PastColumn::failed_node])
      format += (format.empty() ? "" : ",") + std::string(field);
  return format;
}

std::vector<SlurmRecord> read_past(std::string_view text, bool has_failed_node)
{
  std::vector<SlurmRecord> records;
  for (const auto& row :
       read_table("sacct", text, has_failed_node ? PastColumn::columns : PastColumn::failed_node, past_fields[PastColumn::job]))
    records.push_back(past_record(row));
  return records;
}

} // namespace dt::jobs::slurm
