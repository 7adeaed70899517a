#include "jobs/local/local_scheduler.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/cpu_allowance.hpp"
#include "core/machine/process.hpp"
#include "core/number.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/record/study_record.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/attempts/attempts.hpp"
#include "jobs/launch/job_environment.hpp"
#include "jobs/launch/launcher.hpp"
#include "jobs/local/kind.hpp"
#include "jobs/local/supervisor.hpp"
#include "jobs/machine/cores.hpp"
#include "jobs/machine/quick_file.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace dt::jobs::local {
namespace {

namespace fs = std::filesystem;

// Explains why the job can never get its nodes here; empty if it can.
std::string objection_to_nodes(const ResourcesSpec& resources)
{
  const auto& hosts = resources.hosts;
  if (hosts.empty() && resources.nodes > 1)
    return fmt::format("It asks for {} nodes, but the local scheduler has only this machine; set resources.nodes to 1 and use "
                       "resources.ranks_per_node, or name the hosts to run on in resources.hosts.",
                       resources.nodes);
  const auto usable = static_cast<std::int64_t>(usable_hosts(resources).size());
  if (!hosts.empty() && resources.nodes > usable)
    return fmt::format("It asks for {}, but resources.hosts names only {}{}; lower resources.nodes, or name more hosts.",
                       counted(resources.nodes, "node"), usable,
                       std::cmp_equal(usable, hosts.size()) ? "" : " that resources.exclude and resources.nodelist allow");
  if (!hosts.empty() && resources.launcher != "mpirun")
    return fmt::format("resources.hosts names hosts, and {} cannot start ranks on them; set resources.launcher to mpirun.",
                       resources.launcher);
  return {};
}

// A job on named hosts takes all cores of this machine, whatever it needs. The hosts may be namespaces on this machine, which
// share its cores and links, or other machines that this queue knows nothing about. Running one such job at a time avoids that
// two jobs share cores or links unnoticed. (Queues of other machines that name the same hosts are not considered.)
std::int64_t cores_of(const JobRequest& request, std::size_t allowed)
{
  const auto& resources = request.resources;
  const auto all = static_cast<std::int64_t>(allowed);
  const bool is_alone = !resources.hosts.empty() || resources.gpus_per_node > 0; // the queue does not share out GPUs
  return is_alone ? all : std::min(resources.ranks_per_node * request.cores_per_rank(), all);
}

std::optional<std::int64_t> number_of_job(std::string_view id)
{
  constexpr std::string_view prefix = "local-";
  return id.starts_with(prefix) ? number_of<std::int64_t>(id.substr(prefix.size())) : std::nullopt;
}

Ticket ticket_for(const JobRequest& request, const std::vector<int>& allowed, const Ticket& common)
{
  Ticket ticket = common;
  ticket.name = request.name;
  ticket.token = request.token;
  ticket.attempt = fs::absolute(request.attempt.path());
  ticket.time_limit_s = request.resources.time_limit_s;
  ticket.signal_ahead_s = request.resources.signal_ahead_s;
  ticket.when_idle_s = request.resources.when_idle_s;
  for (const auto& id : request.after)
    if (const auto number = number_of_job(id)) ticket.after.push_back(*number);
  ticket.cores = cores_of(request, allowed.size());
  return ticket;
}

// Reserves one number per request and returns the first. If that fails, no job can be added, and every outcome gets the error.
std::optional<std::int64_t> take_numbers(Queue& queue, std::vector<SubmitOutcome>& outcomes)
{
  try {
    return queue.reserve_numbers(outcomes.size());
  } catch (const Error& failure) {
    for (auto& outcome : outcomes)
      if (outcome.error.empty()) outcome.error = std::string("The local queue could not accept it: ") + failure.what();
    return std::nullopt;
  }
}

// Adds all requests without an error. If the disk fills up, only the requests that do not fit are refused.
void add_all(Queue& queue, std::span<const JobRequest> requests, const SubmitRules& rules, const std::vector<int>& allowed,
             std::vector<SubmitOutcome>& outcomes)
{
  std::error_code error;
  Ticket common;
  common.allowed_cores = allowed;
  common.working_folder = fs::current_path(error);
  common.environment = environment_to_keep();
  common.surroundings = own_surroundings();
  common.group = requests.front().token;
  common.max_running = rules.max_running;
  const auto lock = queue.lock();
  auto number = take_numbers(queue, outcomes);
  for (std::size_t i = 0; number && i < requests.size(); ++i) {
    if (!outcomes[i].error.empty()) continue;
    try {
      queue.add(*number, ticket_for(requests[i], allowed, common));
      outcomes[i].job_id = "local-" + std::to_string((*number)++);
    } catch (const Error& failure) {
      outcomes[i].error = std::string("The local queue could not accept it: ") + failure.what();
    }
  }
}

// A queued job's entry, and how many jobs are before it in its host's queue.
struct Place {
  const QueueEntry* entry;
  std::size_t before;
  bool is_elsewhere; // the job is in the queue of another host
};

std::unordered_map<std::string, Place> places_of(const std::vector<QueueEntry>& entries)
{
  std::unordered_map<std::string, Place> places;
  std::unordered_map<std::string, std::size_t> count; // key: host
  const auto here = host_name();
  for (const auto& entry : entries) places.emplace(entry.token, Place{&entry, count[entry.host]++, entry.host != here});
  return places;
}

// "run 3f2a91c0d1 of study lenet in home /scratch/ada"
std::string name_of_job(const AttemptFolder& attempt)
{
  const auto home = home_of(attempt);
  const auto submission = read_submission(attempt);
  const auto study = submission && !submission->study.empty() ? read_study(home.study(submission->study)) : std::nullopt;
  return fmt::format("run {}{} in home {}", short_key(attempt.run_folder().filename().string()),
                     study ? " of study " + study->name : "", home.root().string());
}

// Jobs of the user's other homes, which share the cores: "run … holds 2 cores; run … waits for cores before it". Empty if there
// are none.
std::string others_words(const Home& own)
{
  constexpr std::size_t most_named = 2;
  std::vector<std::string> words;
  std::size_t others = 0;
  const auto is_own = [&](const AttemptFolder& attempt) {
    return home_of(attempt).root().lexically_normal() == fs::absolute(own.root()).lexically_normal();
  };
  try {
    const auto locks = CoreLocks::existing(CoreLocks::default_folder());
    for (const auto& [path, cores] : locks.holders())
      if (const AttemptFolder attempt(path); !is_own(attempt) && ++others <= most_named)
        words.push_back(fmt::format("{} holds {}", name_of_job(attempt), counted(cores, "core")));
    if (others > most_named) words.push_back(counted(others - most_named, "more job") + " of other homes run");
    if (const auto next = locks.next_in_turn(); next && !is_own(AttemptFolder(*next)))
      words.push_back(name_of_job(AttemptFolder(*next)) + " waits for cores before it");
  } catch (const Error&) { // another home's files cannot be read: then it is not named
  }
  return join(words, "; ");
}

JobStatus status_of_queued(const Place& place, const std::string& others, const std::string& trouble)
{
  auto reason = fmt::format("waits for {}", counted(place.entry->cores, "core"));
  if (place.before > 0 || others.empty()) reason += "; " + counted(place.before, "job is", "jobs are") + " before it";
  if (!others.empty()) reason += "; " + others;
  if (place.is_elsewhere) reason = "waits in the queue of host " + place.entry->host + "; call dtctl on that host to start it";
  if (!trouble.empty()) reason += "; " + trouble;
  JobStatus status{JobStatus::State::queued, "queued", reason, std::nullopt, {}};
  if (!trouble.empty() && !trouble.starts_with(waits_for_quiet) && !place.is_elsewhere)
    status.hindrance = {.remedy = "correct the problem that the reason describes; the job then starts without a new submission",
                        .needs_new_job = false};
  return status;
}

// Why no job of the queue can start now, which the supervisor has written; empty if none is known. On a full disk the supervisor
// may not have been able to write it, and no job can start.
std::string trouble_of(const Queue& queue, const Home& home)
{
  const auto told = read_file_if_exists(queue.trouble()).value_or("");
  if (const auto text = trim(told); !text.empty()) return std::string(text);
  struct statvfs disk {};
  constexpr std::uint64_t least_bytes = 64 * 1024; // of the first files of a job
  if (::statvfs(home.root().c_str(), &disk) != 0 || disk.f_bavail * disk.f_frsize >= least_bytes) return {};
  return "no space is left on the disk of " + home.root().string() + ", so no job can start";
}

JobStatus status_of_dead(const Owner& owner)
{
  if (owner.process.pid <= 0) return {JobStatus::State::ended, "withdrawn", "it never started", std::nullopt, {}};
  const auto leftovers = processes_of_job(owner).size();
  if (leftovers == 0) return {JobStatus::State::ended, "ended", "its processes are gone", std::nullopt, {}};
  return {JobStatus::State::running,
          "ending",
          fmt::format("its shell is gone; {} of its processes are being killed", leftovers),
          std::nullopt,
          {}};
}

// What all jobs that are looked at have in common. It is found when the first one needs it.
struct Surroundings {
  const Home& home;
  std::string trouble;
  std::optional<std::string> others{};
  const std::string& others_words()
  {
    if (!others) others = local::others_words(home);
    return *others;
  }
};

// "on host node7", "in another PID namespace of this machine (a container, for example)"
std::string place_of(const Owner& owner)
{
  const auto self = own_identity("").process;
  return owner.process.boot_id == self.boot_id ? "in another PID namespace of this machine (a container, for example)"
         : owner.host == host_name()           ? "on another machine with this host name, " + owner.host + ","
                                               : "on host " + owner.host;
}

JobStatus status_of(const JobHandle& job, const Place* place, Surroundings& around)
{
  const auto owner = read_owner(job.attempt);
  switch (state_of(job.attempt, owner)) {
  case OwnerState::alive:
    return {JobStatus::State::running, "running", fmt::format("process {}", owner->process.pid), std::nullopt, {}};
  case OwnerState::out_of_sight:
    return {
        JobStatus::State::unknown,
        "out of sight",
        fmt::format("it was started {}, which cannot be looked into from here; call dtctl there. It counts as lost when its last "
                    "heartbeat is {} old",
                    place_of(*owner), format_duration(silence_margin_s)),
        std::nullopt,
        {}};
  case OwnerState::silent:
    return {
        JobStatus::State::not_found,
        "silent",
        fmt::format("it was started {}, which cannot be looked into from here, and has shown no sign of life for {} or longer",
                    place_of(*owner), format_duration(silence_margin_s)),
        std::nullopt,
        {}};
  case OwnerState::dead:
    if (place != nullptr) return status_of_dead(*owner);
    return {JobStatus::State::ended, owner->process.pid > 0 ? "ended" : "withdrawn", "it has left the queue", std::nullopt, {}};
  case OwnerState::none:
    break;
  }
  return place != nullptr ? status_of_queued(*place, around.others_words(), around.trouble) : JobStatus{};
}

} // namespace

// The cores of named hosts are unknown here. A rank that finds too few cores on its host reports it (launch/rank_start.hpp).
std::string objection(const ResourcesSpec& resources, std::int64_t side_threads, std::size_t cores, const std::string& quota)
{
  if (auto nodes = objection_to_nodes(resources); !nodes.empty()) return nodes;
  const auto threads = resources.threads_per_rank + side_threads;
  const auto needed = static_cast<std::size_t>(resources.ranks_per_node * threads);
  if (needed <= cores || resources.oversubscribe || !resources.hosts.empty()) return {};
  const auto beside = side_threads > 0 ? fmt::format(", {} of them beside its compute threads", side_threads) : "";
  const auto has =
      quota.empty() ? fmt::format("this machine has {}", cores) : fmt::format("only {} can be kept busy here: {}", cores, quota);
  return fmt::format("It needs {} cores ({} ranks x {} threads{}), but {}; lower resources.ranks_per_node or "
                     "resources.threads_per_rank, or set resources.oversubscribe.",
                     needed, resources.ranks_per_node, threads, beside, has);
}

std::unique_ptr<Scheduler> LocalKind::open(const Home& home) const { return std::make_unique<LocalScheduler>(home); }

std::vector<std::string> LocalKind::nodes(const ResourcesSpec& resources) const { return usable_hosts(resources); }

std::vector<std::string> LocalKind::refusals(std::span<const JobRequest> requests) const
{
  const auto cores = usable_cores().size();
  const auto quota = cpu_allowance().quota_text();
  std::vector<std::string> refusals;
  for (const auto& request : requests) refusals.push_back(objection(request.resources, request.side_threads, cores, quota));
  return refusals;
}

std::vector<SubmitOutcome> LocalScheduler::submit(std::span<const JobRequest> requests, const SubmitRules& rules)
{
  auto errors = LocalKind().refusals(requests);
  std::vector<SubmitOutcome> outcomes(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) outcomes[i].error = std::move(errors[i]);
  if (std::all_of(outcomes.begin(), outcomes.end(), [](const auto& outcome) { return !outcome.error.empty(); })) return outcomes;
  queue_.make();
  add_all(queue_, requests, rules, usable_cores(), outcomes);
  ensure_supervisor(home_);
  return outcomes;
}

std::vector<JobStatus> LocalScheduler::poll(std::span<const JobHandle> jobs)
{
  const auto entries = queue_.list_all_hosts();
  const auto places = places_of(entries);
  Surroundings around{.home = home_, .trouble = entries.empty() ? "" : trouble_of(queue_, home_)};
  std::vector<JobStatus> statuses;
  for (const auto& job : jobs) {
    const auto found = places.find(job.token);
    statuses.push_back(status_of(job, found == places.end() ? nullptr : &found->second, around));
    statuses.back().job_id = found == places.end() ? job.job_id : found->second.entry->job_id();
  }
  if (!entries.empty()) ensure_supervisor(home_);
  return statuses;
}

void LocalScheduler::cancel(std::span<const JobHandle> jobs)
{
  const auto entries = queue_.list_all_hosts();
  const auto places = places_of(entries);
  for (const auto& job : jobs) {
    const auto found = places.find(job.token);
    if (found == places.end() || !is_there(job.attempt.path())) continue;
    // When the supervisor sees this file, it ends a running job.
    create_file_quick(job.attempt.cancel(), fmt::format("{:.3f} unknown\n", now_unix_s()));
    // The first claim decides: the cancellation (the job never runs) or the leader (the job runs and is then ended).
    if (claim_for_cancel(job.attempt, job.token)) queue_.remove(*found->second.entry);
  }
  if (!entries.empty()) ensure_supervisor(home_);
}

} // namespace dt::jobs::local
