#include "jobs/program/load_watch.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/cpu_allowance.hpp"
#include "core/machine/process.hpp"
#include "jobs/program/beside_rank.hpp"
#include "jobs/program/reports/departures.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

namespace fs = std::filesystem;

// Watches the ranks of this host on behalf of one of them, until that one ends.
class HostWatch {
 public:
  HostWatch(const AttemptFolder& attempt, const RunSpec& spec, int rank, pid_t process)
      : attempt_(attempt), spec_(spec), rank_(process), report_(report_file(attempt, static_cast<std::size_t>(rank)))
  {
  }

  void run()
  {
    while (waits_on()) {
      if (!watch_)
        begin_if_all_run();
      else
        go_on();
      tell_who_left();
    }
    tell_who_left();
  }

 private:
  // False if the rank has ended. Waits for that, at most until the next look.
  bool waits_on() const
  {
    const double wait_s = watch_ ? std::clamp(watch_->due_in_s(), 0.05, 0.5) : 0.05; // reports are read twice a second
    return rank_.is_still_running(wait_s);
  }

  void begin_if_all_run()
  {
    const auto host = host_name();
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(spec_.ranks()); ++rank) {
      if (here_.contains(rank) || !is_watched(spec_, rank)) continue;
      if (const auto start = started_rank(attempt_, rank); start && start->line.host == host) here_.emplace(rank, start->line);
    }
    if (here_.size() < static_cast<std::size_t>(spec_.processes_per_node())) return;
    std::vector<RankLine> ranks;
    for (const auto& [rank, line] : here_) ranks.push_back(line);
    watch_.emplace(std::move(ranks), watched_threads(spec_));
  }

  // A launcher of the program's own ends after its ranks, so its end tells nothing.
  void tell_who_left()
  {
    if (spec_.has_own_launcher()) return;
    for (const auto& [rank, line] : here_)
      if (!told_.contains(rank) && !identify_process(line.pid)) {
        told_.insert(rank);
        replace_file(left_file(attempt_, rank), "");
      }
  }

  void go_on()
  {
    for (const auto& line : report_.next()) {
      const auto read = parse_report_line(line);
      is_reporting_ = is_reporting_ || std::holds_alternative<BeginLine>(read) || std::holds_alternative<StepLine>(read);
      steps_ += std::holds_alternative<StepLine>(read) ? 1 : 0;
      if (std::holds_alternative<ResultLine>(read)) watch_->finish();
    }
    if (is_reporting_) watch_->count_steps(steps_, spec_.train.warmup_steps);
    watch_->look();
    const auto loads = watch_->loads();
    std::size_t next = 0;
    for (const auto& [rank, line] : here_)
      if (next < loads.size()) replace_file(load_file(attempt_, rank), to_text(loads[next++]));
  }

  AttemptFolder attempt_;
  const RunSpec& spec_;
  ProcessEnd rank_;
  LineTail report_;
  std::map<std::size_t, RankLine> here_;
  std::optional<LoadWatch> watch_;
  std::set<std::size_t> told_;
  std::int64_t steps_ = 0;
  bool is_reporting_ = false;
};

} // namespace

LoadWatch::LoadWatch(std::vector<RankLine> ranks, std::int64_t threads) : ranks_(std::move(ranks)), threads_(threads)
{
  start_ = looks_now();
}

std::optional<LoadWatch::Looks> LoadWatch::looks_now() const
{
  Looks looks;
  for (const auto& rank : ranks_) {
    const auto own_s = processor_time_of_tree(rank.pid);
    if (!own_s) return std::nullopt;
    const auto process = std::to_string(rank.pid);
    looks.push_back(looks.empty() ? look_at_machine(process) : looks.front());
    looks.back().own_s = *own_s;
    if (looks.size() > 1) looks.back().throttled_s = throttled_times("/", process);
  }
  return looks.empty() ? std::nullopt : std::optional(std::move(looks));
}

void LoadWatch::take_look()
{
  if (auto looks = looks_now())
    last_ = std::move(looks);
  else
    is_finished_ = true;
}

double LoadWatch::due_in_s() const
{
  if (!start_ || is_finished_) return std::numeric_limits<double>::infinity();
  const auto& begin = measured_ ? *measured_ : *start_;
  const auto& last = last_ ? *last_ : begin;
  const double watched_s = last.front().clock_s - begin.front().clock_s;
  return last.front().clock_s + std::clamp(watched_s / 10, 0.2, 5.0) - monotonic_s();
}

void LoadWatch::look()
{
  if (due_in_s() <= 0) take_look();
}

void LoadWatch::finish()
{
  if (start_ && !is_finished_) take_look();
  is_finished_ = true;
}

void LoadWatch::begin_again()
{
  if (start_ && !is_finished_) measured_ = looks_now();
}

void LoadWatch::count_steps(std::int64_t steps, std::int64_t warmup_steps)
{
  if (has_warmed_up_ || steps < warmup_steps) return;
  begin_again();
  has_warmed_up_ = true;
}

std::vector<RankLoad> LoadWatch::loads() const
{
  if (!start_ || !last_) return {};
  const bool has_measured = measured_ && last_->front().clock_s > measured_->front().clock_s;
  const auto& begin = has_measured ? *measured_ : *start_;
  std::vector<RankLoad> loads;
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    loads.push_back(load_between(begin[i], (*last_)[i], parse_mask(ranks_[i].cores == "-" ? "" : ranks_[i].cores), threads_));
  return loads;
}

bool is_watched(const RunSpec& spec, std::size_t rank)
{
  const bool is_elsewhere = spec.has_container() && spec.resources.container.runtime == ContainerRuntime::podman;
  return !is_elsewhere && rank % static_cast<std::size_t>(spec.ranks_per_process()) == 0;
}

std::int64_t watched_threads(const RunSpec& spec) { return spec.resources.threads_per_rank * spec.ranks_per_process(); }

fs::path load_file(const AttemptFolder& attempt, std::size_t rank)
{
  return attempt.path_of(AttemptFile::reports) / fmt::format("load-{}", rank);
}

void start_load_watch(const AttemptFolder& attempt, const RunSpec& spec, int rank)
{
  start_beside_rank(attempt, [&](pid_t process) { HostWatch(attempt, spec, rank, process).run(); });
}

} // namespace dt::jobs
