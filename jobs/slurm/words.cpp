#include "jobs/slurm/words.hpp"

#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/slurm/access/array_tasks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

// What Slurm's word for a reason means. The remedy is what the user changes where the job can never start as it is.
struct Reason {
  std::string_view native, words, remedy{};
};

// Those that dtctl can say more of than Slurm's word does, except those of limits, which limit_words builds.
constexpr Reason reasons[]{
    {"None", "waits for the scheduler to consider it"},
    {"Priority", "waits for jobs of higher priority"},
    {"Dependency", "waits for another job"},
    {"Resources", "waits for free nodes"},
    {"PartitionNodeLimit", "asks for more nodes than its partition allows per job, or for nodes that are down",
     "ask for fewer nodes or another resources.partition (dtctl doctor lists them), or wait until nodes are back"},
    {"PartitionTimeLimit", "asks for more time than its partition allows",
     "lower resources.time_limit or choose another resources.partition (dtctl doctor lists their limits)"},
    {"PartitionDown", "waits for its partition, which is down"},
    {"PartitionInactive", "waits for its partition, which is inactive"},
    {"PartitionConfig", "asks for more nodes, time or memory than its partition allows",
     "ask for no more nodes, time and memory than resources.partition has (dtctl doctor lists the partitions)"},
    {"JobHeldAdmin", "held by an administrator"},
    {"JobHeldUser", "held by its user (release it with scontrol release)"},
    {"JobHoldMaxRequeue", "held: it was started again too often"},
    {"BeginTime", "waits for its earliest start"},
    {"Licenses", "waits for licenses"},
    {"AssociationJobLimit", "waits: the account has reached its limit of jobs"},
    {"AssociationResourceLimit", "waits: the account has reached its limit of resources"},
    {"AssociationTimeLimit", "waits: the account has used up its time"},
    {"AccountingPolicy", "waits: an accounting limit is reached"},
    {"QOSUsageThreshold", "waits: the QOS's usage threshold is reached"},
    {"QOSJobLimit", "waits: the QOS has reached its limit of jobs"},
    {"QOSResourceLimit", "waits: the QOS has reached its limit of resources"},
    {"QOSTimeLimit", "waits: the QOS has used up its time"},
    {"Reservation", "waits for its reservation"},
    {"ReservationDeleted", "held: its reservation was deleted", "choose another --reservation"},
    {"ReqNodeNotAvail", "waits for nodes that are down, drained or reserved"},
    {"NodeDown", "waits for a node that is down"},
    {"SchedDefer", "waits for the scheduler: the site defers scheduling at submission"},
    {"BadConstraints", "asks for properties that no node has",
     "change resources.constraint, nodes, cores or memory to what a node has"},
    {"SystemFailure", "stopped by a failure of Slurm, the file system or the network"},
    {"JobLaunchFailure", "could not be launched"},
    {"NonZeroExitCode", "its script failed"},
    {"TimeLimit", "reached its time limit"},
    {"InvalidAccount", "names an account that is not valid", "choose another resources.account"},
    {"AccountNotAllowed", "may not use this account", "choose another resources.account, or another resources.partition"},
    {"InvalidQOS", "names a QOS that is not valid", "choose another resources.qos"},
    {"QOSNotAllowed", "may not use this QOS", "choose another resources.qos, or another resources.partition"},
    {"Cleaning", "waits for its last start to be cleaned up"},
    {"Prolog", "waits for the site's prolog"},
    {"DependencyNeverSatisfied", "waits for a job that can never succeed",
     "remove the dependency, or run the job that it waits for again"},
    {"JobArrayTaskLimit", "waits: its array has reached its limit of running tasks"},
    {"DeadLine", "cannot meet its deadline", "choose a later --deadline or a lower resources.time_limit"},
    {"OutOfMemory", "ran out of memory"},
    {"MaxMemPerLimit", "asks for more memory than one job may have", "lower --mem or --mem-per-cpu"},
};

const Reason* find_reason(std::string_view native)
{
  const auto* row = std::find_if(std::begin(reasons), std::end(reasons), [&](const Reason& one) { return one.native == native; });
  return row == std::end(reasons) ? nullptr : row;
}

// A limit's name contains a word for the resource that it limits. Each row: that word, and the resource as messages print it.
struct Limited {
  std::string_view word, thing;
};
constexpr Limited limited[]{
    {"Cpu", "cores"},
    {"CPU", "cores"},
    {"Memory", "memory"},
    {"Mem", "memory"},
    {"Node", "nodes"},
    {"GRES", "GPUs or other generic resources"},
    {"License", "licenses"},
    {"Energy", "energy"},
    {"BB", "burst buffer"},
    {"Billing", "billing units"},
    {"SubmitJob", "submitted jobs"},
    {"Job", "jobs"},
    {"WallDuration", "run time"},
    {"Wall", "run time"},
    {"Unknown", "a resource"},
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Returns the resource that the limit with this name limits; empty if unknown. Removes "PerJob" first, because it contains "Job".
std::string_view thing_limited(std::string_view native)
{
  std::string name(native);
  if (const auto place = name.find("PerJob"); place != std::string::npos) name.erase(place, 6);
  const auto* row = std::find_if(std::begin(limited), std::end(limited), [&](const Limited& one) { return has(name, one.word); });
  return row == std::end(limited) ? std::string_view() : row->thing;
}

// Explains limits of associations (accounts) and QOS, whose names are built by one scheme: "AssocGrpCPUMinutesLimit".
std::string limit_words(std::string_view native)
{
  const bool of_account = native.starts_with("Assoc") || native.ends_with("PerAccount");
  if (!of_account && !native.starts_with("QOS")) return {};
  const auto rest = native.starts_with("Assoc") ? native.substr(5) : native.starts_with("QOS") ? native.substr(3) : native;
  const auto thing = thing_limited(rest);
  if (thing.empty()) return {};
  const auto what = std::string(thing) + (has(rest, "Minutes") ? "-minutes" : "");
  const std::string owner = of_account ? "the account" : "the QOS";
  if (rest.starts_with("Min")) return fmt::format("asks for less {} than {} demands of a job", what, owner);
  if (has(rest, "PerJob")) return fmt::format("asks for more {} than {} allows a job", what, owner);
  if (has(rest, "PerNode")) return fmt::format("asks for more {} a node than {} allows", what, owner);
  return fmt::format("waits: {}'s limit of {}{} is reached", owner, what, has(rest, "PerUser") ? " a user" : "");
}

// Whether the job itself exceeds the limit, independent of other jobs.
bool is_own_limit(std::string_view native)
{
  const bool is_policy = native.starts_with("Assoc") || native.starts_with("QOS");
  return is_policy && (has(native, "PerJob") || has(native, "PerNode") || native.starts_with("QOSMin"));
}

std::string limit_remedy(std::string_view native)
{
  const auto thing = thing_limited(native);
  const auto what = thing.empty() ? std::string_view("resources") : thing;
  const std::string owner = native.starts_with("Assoc") ? "resources.account" : "resources.qos";
  if (what == "run time") return "lower resources.time_limit, or choose another " + owner;
  const bool is_counted = what.ends_with('s'); // nodes, cores, licenses; not memory or energy
  return fmt::format("ask for {} {}, or choose another {}",
                     native.starts_with("QOSMin") ? "more"
                     : is_counted                 ? "fewer"
                                                  : "less",
                     what, owner);
}

// What prevents a job with this reason from ever starting as it is: a limit that the job itself exceeds, a constraint that no
// node meets, a hold. `job` is what scontrol takes: "12", "12_3", "12_[0-2]".
Hindrance hindrance_of(std::string_view reason, const std::string& job)
{
  if (reason == "JobHeldAdmin") return {"ask an administrator to release it", false};
  if (has(reason, "Held") || has(reason, "Hold")) return {"release it: scontrol release " + job, false};
  if (const auto* row = find_reason(reason)) return {std::string(row->remedy), true};
  return is_own_limit(reason) ? Hindrance{limit_remedy(reason), true} : Hindrance{};
}

// "14:20", with the date if it is more than 18 hours away.
std::string clock_time(double unix_s)
{
  const auto local = format_time_local(unix_s); // 2026-11-21 05:05:06
  return unix_s - now_unix_s() < 18 * 3600 ? local.substr(11, 5) : local.substr(0, 16);
}

// Shortens "afterany:12(unfulfilled),afterany:13_*(unfulfilled)" to "12, 13".
std::string awaited_jobs(std::string_view dependency)
{
  std::vector<std::string> jobs;
  for (const auto& part : split(dependency, ',')) {
    const auto colon = part.find(':');
    if (colon == std::string::npos) continue;
    const auto job = part.substr(colon + 1, part.find_first_of("(_", colon) - colon - 1); // "12_*" means the whole array
    jobs.push_back(job);
  }
  return join(jobs, ", ");
}

JobStatus ended(const SlurmRecord& record, std::optional<RunState> outcome, std::string cause)
{
  JobStatus status;
  status.state = JobStatus::State::ended;
  status.native_state = record.state;
  status.exit_code = std::max(exit_code_of(record.exit_status), exit_code_of(record.derived_exit_status));
  status.outcome = outcome;
  status.cause = std::move(cause);
  status.restarts = record.restarts;
  return status;
}

// A job of several nodes does not tell which of them failed.
std::string failed_node(const SlurmRecord& record)
{
  if (!record.failed_node.empty()) return record.failed_node;
  if (record.nodes.empty()) return "a node";
  return record.nodes.find_first_of("[,") == std::string::npos ? record.nodes : "one of the nodes " + record.nodes;
}

std::string on_nodes(const SlurmRecord& record) { return record.nodes.empty() ? "a node" : record.nodes; }

// Why Slurm started no process of the job; empty if it started the job's script. No process was sent signal 53: Slurm reports it
// when the node could not open the job's output.
std::string launch_failure(const SlurmRecord& record, const std::string& folder)
{
  constexpr std::uint32_t output_not_opened = 53;
  if ((record.exit_status & 0x7f) == output_not_opened && record.reason != "NonZeroExitCode")
    return fmt::format(
        "could not start on {}: Slurm could not open the job's output there, because the folder{} does not exist on "
        "that node or cannot be written; set DTCTL_HOME to a folder that all nodes share (to check it: dtctl doctor)",
        on_nodes(record), folder.empty() ? std::string() : " " + printable(folder));
  if (record.reason != "JobLaunchFailure") return {};
  const auto& details = record.reason_details;
  return fmt::format("could not start on {} (JobLaunchFailure){}; the log of slurmd on that node says why", on_nodes(record),
                     details.empty() || details == record.reason ? std::string() : ": " + printable(details));
}

JobStatus status_of_ended(const SlurmRecord& record, const std::string& folder)
{
  switch (record.phase) {
  case JobPhase::complete:
    return ended(record, std::nullopt, {});
  case JobPhase::cancelled:
    return ended(record, RunState::cancelled,
                 record.cancelled_by.empty() ? "cancelled in Slurm" : "cancelled by " + record.cancelled_by);
  case JobPhase::timeout:
    return ended(record, RunState::timed_out, "reached Slurm's time limit (TIMEOUT)");
  case JobPhase::preempted:
    return ended(record, RunState::preempted, "made way for another job (PREEMPTED)");
  case JobPhase::node_fail:
    return ended(record, RunState::failed, failed_node(record) + " failed (NODE_FAIL)");
  case JobPhase::boot_fail:
    return ended(record, RunState::failed, on_nodes(record) + " did not boot (BOOT_FAIL)");
  case JobPhase::deadline:
    return ended(record, RunState::failed, "its deadline passed (DEADLINE)");
  case JobPhase::out_of_memory:
    return ended(record, RunState::failed, "used more memory than it was given (OUT_OF_MEMORY)");
  case JobPhase::failed:
    if (auto failure = launch_failure(record, folder); !failure.empty())
      return ended(record, RunState::failed, std::move(failure));
    return ended(record, std::nullopt,
                 record.reason == "NonZeroExitCode" || record.reason == "None" || record.reason.empty()
                     ? std::string()
                     : reason_words(record.reason));
  default:
    return {JobStatus::State::unknown, record.state, "a state that dtctl does not know", std::nullopt, {}};
  }
}

JobStatus living(const SlurmRecord& record, JobStatus::State state, std::string reason)
{
  JobStatus status;
  status.state = state;
  status.native_state = record.state;
  status.reason = std::move(reason);
  status.restarts = record.restarts;
  return status;
}

JobStatus running(const SlurmRecord& record)
{
  const bool is_suspended = record.phase == JobPhase::suspended;
  auto status = living(record, JobStatus::State::running, (is_suspended ? "suspended on " : "on ") + on_nodes(record));
  status.suspended_s = static_cast<double>(record.suspended_s);
  status.is_suspended = is_suspended;
  return status;
}

std::string job_for_scontrol(const SlurmRecord& record)
{
  if (record.array_id == 0) return std::to_string(record.id);
  if (record.tasks.size() == 1) return fmt::format("{}_{}", record.array_id, record.tasks.front());
  return fmt::format("{}_[{}]", record.array_id, format_array_tasks(record.tasks));
}

bool is_put_back(const SlurmRecord& record) { return record.phase == JobPhase::held; }

JobStatus pending(const SlurmRecord& record)
{
  auto status = living(record, JobStatus::State::queued, waiting_words(record));
  const std::string_view reason = is_put_back(record) ? "JobHoldMaxRequeue" : std::string_view(record.reason);
  status.hindrance = hindrance_of(reason, job_for_scontrol(record));
  return status;
}

// The key of the recipe that causes an error of Slurm, by the error's code.
struct Setting {
  int code;
  std::string_view key;
  std::string SlurmJob::*value;
};
constexpr Setting settings[]{
    {2000, "resources.partition", &SlurmJob::partition},
    {2101, "resources.partition", &SlurmJob::partition},
    {2070, "resources.partition", &SlurmJob::partition},
    {2045, "resources.account", &SlurmJob::account},
    {2066, "resources.qos", &SlurmJob::qos},
    {2029, "resources.constraint", &SlurmJob::constraint},
    {2018, "resources.nodelist", &SlurmJob::require_nodes},
    {2038, "dependencies", &SlurmJob::dependency},
};

std::string at_fault(int code, const SlurmJob& job)
{
  const auto* setting =
      std::find_if(std::begin(settings), std::end(settings), [&](const Setting& row) { return row.code == code; });
  if (setting != std::end(settings)) {
    const auto& value = job.*setting->value;
    return fmt::format(" ({}: {})", setting->key, value.empty() ? "none given" : value);
  }
  return fmt::format(" (asked for: {} nodes, {} tasks of {} cores, {} min{})", job.nodes, job.tasks, job.cpus_per_task,
                     job.time_limit_min, job.partition.empty() ? "" : ", partition " + job.partition);
}

bool is_one_of(int code, std::initializer_list<int> codes) { return std::find(codes.begin(), codes.end(), code) != codes.end(); }

} // namespace

std::string reason_words(std::string_view native)
{
  const auto* row = find_reason(native);
  const auto words = row != nullptr ? std::string(row->words) : limit_words(native);
  if (words.empty()) return fmt::format("waits ({})", native.empty() ? "no reason given" : printable(native));
  return fmt::format("{} ({})", words, native);
}

std::string words_of_reservation(const SlurmRecord& record, std::span<const SlurmReservation> reservations, double now_unix_s)
{
  constexpr double least_s = 120; // a shorter run would hardly start in time
  if (record.reason != "ReqNodeNotAvail") return {};
  const SlurmReservation* next = nullptr;
  for (const auto& one : reservations) {
    const auto left_s = static_cast<double>(one.start_unix_s) - now_unix_s;
    const bool is_in_the_way =
        left_s >= least_s && (record.time_limit_s == 0 || static_cast<double>(record.time_limit_s) > left_s);
    if (is_in_the_way && (next == nullptr || one.start_unix_s < next->start_unix_s)) next = &one;
  }
  if (next == nullptr) return {};
  const auto minutes = static_cast<std::int64_t>((static_cast<double>(next->start_unix_s) - now_unix_s) / 60) - 1;
  return fmt::format("; the reservation {} begins at {}: with a time limit of at most {} it could end before that "
                     "(resources.time_limit, or now: scontrol update jobid={} timelimit={})",
                     printable(next->name), clock_time(static_cast<double>(next->start_unix_s)),
                     format_duration(static_cast<double>(minutes * 60)), job_for_scontrol(record), minutes);
}

std::string failed_nodes(std::span<const SlurmNode> nodes)
{
  std::vector<std::string> failed;
  for (const auto& node : nodes)
    if (node.state.starts_with("DOWN")) failed.push_back(node.name);
  return failed.size() == nodes.size() ? "" : join(failed, ", ");
}

std::string waiting_words(const SlurmRecord& record)
{
  auto words = is_put_back(record)
                   ? "put back on hold after its last start, by Slurm itself or with scontrol requeuehold (" + record.state + ")"
                   : reason_words(record.reason);
  if (record.reason == "Dependency" && !awaited_jobs(record.dependency).empty())
    words = "waits for job " + awaited_jobs(record.dependency) + " (Dependency)";
  if (!record.reason_details.empty() && record.reason_details != record.reason) words += ": " + printable(record.reason_details);
  // The estimated start of a held job means nothing.
  const bool is_held = is_put_back(record) || has(record.reason, "Held") || has(record.reason, "Hold");
  if (!is_held && static_cast<double>(record.start_unix_s) > now_unix_s())
    words += "; starts about " + clock_time(static_cast<double>(record.start_unix_s));
  return words;
}

JobStatus status_of(const SlurmRecord& record, const std::string& folder)
{
  switch (record.phase) {
  case JobPhase::pending:
  case JobPhase::held:
    return pending(record);
  case JobPhase::completing:
    return living(record, JobStatus::State::running, "is being ended on " + on_nodes(record));
  case JobPhase::requeued:
    return living(record, JobStatus::State::queued, "goes back into the queue");
  case JobPhase::configuring:
    return living(record, JobStatus::State::queued, on_nodes(record) + " is made ready for it");
  case JobPhase::running:
  case JobPhase::suspended:
    return running(record);
  default:
    return status_of_ended(record, folder);
  }
}

int exit_code_of(std::uint32_t wait_status)
{
  const auto signal = static_cast<int>(wait_status & 0x7f);
  return signal != 0 ? 128 + signal : static_cast<int>(wait_status >> 8 & 0xff);
}

// Numbers from slurm_errno.h, copied so that only the module needs Slurm's headers.
bool is_ambiguous(int code)
{
  const bool of_message = code >= 1000 && code <= 1004; // connection, send, receive, shutdown
  const bool of_controller = code >= 1800 && code <= 1803;
  const bool of_socket = code >= 5000 && code <= 5005; // 5004: timed out
  return of_message || of_controller || of_socket ||
         is_one_of(code, {0, ETIMEDOUT, ECONNREFUSED, ECONNRESET, EPIPE, ENETUNREACH, EHOSTUNREACH, EINTR});
}

bool is_slow(int code) { return (code >= 5000 && code <= 5005) || is_one_of(code, {1003, 1802, ETIMEDOUT}); }

bool is_temporary(int code)
{
  // Queue full (sbatch waits and tries again, too), standby controller, submissions briefly disabled for the node table, EAGAIN.
  return is_one_of(code, {2007, 2027, 2131, EAGAIN});
}

bool is_gone(int code)
{
  // Unknown id, already done, finished, not running, neither pending nor running.
  return is_one_of(code, {2017, 2021, 2084, 2085, 2086});
}

// 2050 is ESLURM_ACCOUNTING_POLICY, which stands for every kind of limit; the message names the limit. Slurm reports EAGAIN or
// 2007 if it has MaxJobCount jobs.
bool is_full(const SlurmFailure& failure)
{
  return is_one_of(failure.code(), {2007, EAGAIN}) || (failure.code() == 2050 && has(failure.what(), "Submit"));
}

std::string full_words(const SlurmFailure& failure)
{
  const std::string words = failure.what();
  if (failure.code() != 2050) return "not handed to Slurm yet: its queue holds as many jobs as it may (" + words + ")";
  const auto native = words.substr(words.rfind(' ') + 1);
  auto limit = reason_words(native);
  if (limit.starts_with("waits: ")) limit.erase(0, 7);
  return "not handed to Slurm yet: " + limit;
}

std::string refusal_words(const SlurmFailure& failure, const SlurmJob& job)
{
  return fmt::format("Slurm refused it: {}{}.", failure.what(), at_fault(failure.code(), job));
}

} // namespace dt::jobs::slurm
