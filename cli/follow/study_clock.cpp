#include "cli/follow/study_clock.hpp"

#include "cli/runs/run_tables.hpp"

#include "cli/runs/checkpoints.hpp"
#include "cli/runs/run_tables.hpp"
#include "core/record/attempt/claim.hpp"
#include "core/record/run_record.hpp"
#include "core/spec/point_label.hpp"
#include "core/spec/scheduler_table.hpp"
#include "jobs/machine/cores.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dt::cli {
namespace {

bool is_begun(const RunView& run) { return run.row.state == RunState::running || run.row.state == RunState::suspended; }

// Whether the run waits in a queue, or for room in it.
bool is_waiting(const RunView& run)
{
  return run.row.state == RunState::queued || run.row.state == RunState::submitted || (run.live && run.live->is_deferred);
}

bool is_open(const RunView& run) { return is_begun(run) || is_waiting(run); }

bool is_on_cluster(const RunView& run)
{
  return run.live && run.live->submission && !scheduler_row(run.live->submission->scheduler).uses_this_machine;
}

// From the start of the attempt's job to its end. NaN while its end is not recorded, and if it continued from a checkpoint: it
// then did only a part of the work.
double measured_wall_s(const std::filesystem::path& run_folder, int attempt)
{
  try {
    if (attempt < 1 || last_checkpoint(run_folder, attempt - 1) > 0) return not_measured;
    const AttemptFolder folder(run_folder, attempt);
    const auto owner = read_owner(folder);
    const auto end = read_end(folder);
    return owner && owner->process.pid != 0 && end ? std::max(0.0, end->unix_s - owner->unix_s) : not_measured;
  } catch (const Error&) { // the files cannot be read; the run's state says so
    return not_measured;
  }
}

} // namespace

StudyClock::StudyClock(Home home, std::vector<FinishedRun> earlier, std::int64_t most_runs)
    : home_(std::move(home)), earlier_(std::move(earlier)), most_runs_(most_runs)
{
}

const StudyClock::Facts& StudyClock::facts_of(const std::string& key)
{
  const auto [found, is_new] = facts_.try_emplace(key);
  if (!is_new) return found->second;
  try {
    const auto spec = read_planned_run(home_.run(key)).spec;
    found->second = {.label = series_of(spec.label),
                     .nodes = spec.resources.nodes,
                     .ranks = spec.ranks(),
                     .cores = spec.cores(),
                     .samples_per_step = spec.is_simulated() || spec.is_own_program() ? 0 : spec.effective_global_batch(),
                     .takes_machine = !spec.is_simulated() && !spec.resources.hosts.empty()};
  } catch (const Error&) { // the run then counts as one of one rank
  }
  return found->second;
}

double StudyClock::wall_s_of(const std::string& key, int attempt)
{
  const auto known = walls_.find(key);
  if (known != walls_.end()) return known->second;
  const double wall_s = measured_wall_s(home_.run(key), attempt);
  if (std::isfinite(wall_s)) walls_.emplace(key, wall_s);
  return wall_s;
}

void StudyClock::look(std::vector<RunView>& runs)
{
  for (auto& run : runs) {
    if (!is_begun(run) || !run.live || !run.live->heartbeat) continue;
    auto& pace = paces_[run.row.key];
    pace.add(run.live->heartbeat->unix_s, static_cast<double>(run.live->heartbeat->step));
    run.steps_per_s = pace.per_s();
    run.row.global_batch = facts_of(run.row.key).samples_per_step;
  }
}

TimedRun StudyClock::sized(const std::string& key)
{
  const auto& facts = facts_of(key);
  return {.label = facts.label, .nodes = facts.nodes, .ranks = facts.ranks};
}

TimedRun StudyClock::finished(const std::string& key, int attempt)
{
  auto run = sized(key);
  run.stage = TimedRun::Stage::finished;
  run.wall_s = wall_s_of(key, attempt);
  return run;
}

// Nothing for a run that has failed or will not run.
std::optional<TimedRun> StudyClock::timed(const RunView& run, double now_unix_s)
{
  if (run.row.state == RunState::succeeded) return finished(run.row.key, run.row.attempt);
  if (!is_open(run)) return std::nullopt;
  auto timed = sized(run.row.key);
  if (!is_begun(run)) return timed;
  timed.stage = TimedRun::Stage::running;
  timed.done = fraction_done(run);
  if (run.live && run.live->begin) timed.elapsed_s = now_unix_s - run.live->begin->unix_s;
  return timed;
}

std::int64_t StudyClock::places_of(const std::string& key, const QueueRoom& room)
{
  const auto& facts = facts_of(key);
  return facts.takes_machine ? room.places : facts.cores;
}

double StudyClock::remaining_s(const std::vector<RunView>& runs, double now_unix_s)
{
  if (!has_finished(runs) || std::none_of(runs.begin(), runs.end(), is_open)) return not_measured;
  const bool on_cluster =
      std::any_of(runs.begin(), runs.end(), [](const RunView& run) { return is_open(run) && is_on_cluster(run); });
  // Runs that cannot start have no end to wait for. Of a cluster that runs nothing now, nobody knows how much it will run.
  if (std::any_of(runs.begin(), runs.end(), is_hindered)) return not_measured;
  if (on_cluster && std::none_of(runs.begin(), runs.end(), is_begun)) return not_measured;
  const auto room = room_for(runs, on_cluster);
  std::vector<TimedRun> all;
  for (const auto& run : runs) {
    auto one = timed(run, now_unix_s);
    if (!one) continue;
    if (!on_cluster) one->places = places_of(run.row.key, room);
    all.push_back(std::move(*one));
  }
  for (const auto& run : earlier_) all.push_back(finished(run.key, run.attempt));
  return study_remaining_s(all, room);
}

bool StudyClock::has_finished(const std::vector<RunView>& runs) const
{
  return !earlier_.empty() ||
         std::any_of(runs.begin(), runs.end(), [](const RunView& run) { return run.row.state == RunState::succeeded; });
}

// Nobody knows how many jobs a cluster will run at the same time, so we assume as many as now.
QueueRoom StudyClock::room_for(const std::vector<RunView>& runs, bool on_cluster) const
{
  QueueRoom room;
  if (most_runs_ > 0) room.most_runs = most_runs_;
  room.places =
      on_cluster ? std::count_if(runs.begin(), runs.end(), is_begun) : static_cast<std::int64_t>(jobs::usable_cores().size());
  room.places = std::max<std::int64_t>(1, room.places);
  return room;
}

} // namespace dt::cli
