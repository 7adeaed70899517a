#include "cli/follow/follow.hpp"

#include "cli/answers/common_causes.hpp"
#include "cli/command/interrupt.hpp"
#include "cli/follow/deferred_runs.hpp"
#include "cli/follow/progress.hpp"
#include "cli/output/standard_out.hpp"
#include "cli/runs/run_tables.hpp"
#include "core/counted.hpp"
#include "core/spec/run_key.hpp"
#include "core/spec/scheduler_table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<RunView> unseen_runs(const Follow& follow)
{
  std::vector<RunView> runs(follow.keys.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].row.key = follow.keys[i];
    runs[i].row.name = follow.names[i];
  }
  return runs;
}

// Whether the result exists but the job has not recorded its end. It will do so a moment later.
bool is_about_to_end(const RunView& run)
{
  return run.row.state == RunState::succeeded && run.live && !run.live->verdict.exit_code;
}

// Reconciles every run whose state can still change.
void look_again(const Home& home, std::vector<RunView>& runs, std::vector<std::string>& troubles)
{
  std::vector<std::string> open;
  std::map<std::string, RunView*> by_key;
  for (auto& run : runs) {
    if (is_final(run.row.state) && !is_about_to_end(run)) continue;
    open.push_back(run.row.key);
    by_key[run.row.key] = &run;
  }
  if (open.empty()) return;
  for (auto& status : jobs::reconcile(home, open, &troubles)) {
    auto& run = *by_key.at(status.key);
    const bool tells_nothing = status.verdict.state == RunState::unknown && !troubles.empty();
    if (tells_nothing && run.live) continue; // keep the last known state
    put_status(home, run, std::move(status));
  }
}

bool all_ended(const Home& home, const std::vector<RunView>& runs)
{
  const auto is_over = [](const RunView& run) {
    return is_final(run.row.state) || (run.row.state == RunState::planned && !is_deferred(run)) ||
           (run.live && run.live->unreadable);
  };
  const auto is_planned = [](const RunView& run) { return run.row.state == RunState::planned; };
  return std::all_of(runs.begin(), runs.end(), is_over) &&
         // Another dtctl may be about to submit planned runs.
         (std::none_of(runs.begin(), runs.end(), is_planned) || !LockedHome::is_locked(home));
}

// Whether the end is certain: at once if every job has recorded its end, otherwise after `settle_s`.
class Settling {
 public:
  bool is_over(bool ended, const std::vector<RunView>& runs)
  {
    if (!ended) since_.reset();
    if (ended && !since_) since_ = Clock::now();
    return ended && (std::none_of(runs.begin(), runs.end(), is_about_to_end) || seconds_since(*since_) >= settle_s);
  }

 private:
  static constexpr double settle_s = 10;
  std::optional<Clock::time_point> since_;
};

// Pause before the next look. It is ten times as long as the last look took, within limits that keep the display alive. A
// cluster's controller serves many users, so it is asked less often, and with jitter.
double pause_s(double last_look_s, const std::vector<RunView>& runs, std::minstd_rand& jitter)
{
  if (!is_on_shared_scheduler(runs)) return std::clamp(10 * last_look_s, 0.3, 10.0);
  return std::clamp(10 * last_look_s, 2.0, 30.0) * std::uniform_real_distribution<double>(1, 1.25)(jitter);
}

// A scheduler may be restarted while dtctl watches, so dtctl gives up only after `patience_s`.
class Patience {
 public:
  Patience(Context& context, double patience_s) : context_(context), patience_s_(patience_s) {}
  bool is_over(const std::vector<std::string>& troubles, ProgressView& view)
  {
    if (troubles.empty()) since_.reset();
    if (!troubles.empty() && !since_) {
      since_ = Clock::now();
      view.leave();
      const auto& told = context_.troubles; // what the user was told when the runs were selected
      const bool is_told = std::find(told.begin(), told.end(), troubles.front()) != told.end();
      const auto again =
          fmt::format("dtctl asks again for up to {} (--patience); the jobs go on meanwhile.", format_duration(patience_s_));
      if (is_told)
        context_.messages.info("{}", again);
      else
        context_.messages.warn("{} {}", troubles.front(), again);
    }
    if (!since_ || seconds_since(*since_) < patience_s_) return false;
    view.leave();
    context_.troubles = troubles; // they were told above
    context_.messages.info("gave up after {}; the states shown come only from the runs' files. Follow the runs again with: dtctl "
                           "status --follow",
                           format_duration(patience_s_));
    return true;
  }

 private:
  Context& context_;
  double patience_s_;
  std::optional<Clock::time_point> since_;
};

// Decides when to try to submit deferred runs again: at first, when a run has ended since the last success, and once a minute,
// because other users' jobs end too.
class Room {
 public:
  bool may_be_there(const std::vector<RunView>& runs)
  {
    if (std::none_of(runs.begin(), runs.end(), is_deferred)) return false;
    const auto ended = std::count_if(runs.begin(), runs.end(), [](const RunView& run) { return is_final(run.row.state); });
    const bool is_due = !tried_ || seconds_since(*tried_) >= 60 || (ended > used_ && seconds_since(*tried_) >= 2);
    if (is_due) tried_ = Clock::now();
    ended_ = ended;
    return is_due;
  }
  // The room that ended runs made has been used.
  void was_used() { used_ = ended_; }

 private:
  std::optional<Clock::time_point> tried_;
  std::ptrdiff_t ended_ = 0, used_ = 0;
};

void submit_deferred_if_room(Context& context, const Home& home, const std::vector<RunView>& runs, Room& room, ProgressView& view,
                             std::vector<std::string>& troubles)
{
  if (!room.may_be_there(runs)) return;
  const auto done = submit_deferred(home, runs, troubles);
  if (done.submitted > 0) room.was_used();
  if (done.submitted > 0 || !done.refusals.empty()) view.leave();
  tell(context, done);
}

// Reports runs that cannot start, once per remedy.
class Hindrances {
 public:
  explicit Hindrances(Context& context) : context_(context) {}
  void tell(const std::vector<RunView>& runs, ProgressView& view)
  {
    std::map<std::string, std::vector<const RunView*>> new_ones;
    for (const auto& run : runs)
      if (is_hindered(run) && !told_.contains(run.live->job.hindrance.remedy))
        new_ones[run.live->job.hindrance.remedy].push_back(&run);
    for (const auto& [remedy, hindered] : new_ones) {
      told_.insert(remedy);
      view.leave();
      const auto& first = *hindered.front();
      context_.messages.warn("{} cannot start as submitted: {}. dtctl explain {} says what to do. Still waiting.",
                             hindered.size() == 1 ? "run " + printable(first.row.name) : counted(hindered.size(), "run"),
                             waiting_reason(first), short_key(first.row.key));
    }
  }

 private:
  Context& context_;
  std::set<std::string> told_;
};

// Says what the runs wait for, if none of them has run for a while: jobs of another home may hold the cores, for example. Once
// for each time in which nothing runs.
class Standstill {
 public:
  explicit Standstill(Context& context) : context_(context) {}
  void tell(const std::vector<RunView>& runs, ProgressView& view)
  {
    constexpr double least_s = 5; // the scheduler needs a moment to start jobs
    const auto waits = [](const RunView& run) { return !waiting_reason(run).empty() && !is_hindered(run); };
    const auto runs_now = [](const RunView& run) { return run.row.state == RunState::running; };
    const auto first = std::find_if(runs.begin(), runs.end(), waits);
    if (first == runs.end() || std::any_of(runs.begin(), runs.end(), runs_now)) {
      since_.reset();
      is_told_ = false;
      return;
    }
    if (!since_) since_ = Clock::now();
    if (is_told_ || seconds_since(*since_) < least_s) return;
    is_told_ = true;
    view.leave();
    context_.messages.info("none of the runs is running; {}: {}", printable(first->row.name), printable(waiting_reason(*first)));
  }

 private:
  Context& context_;
  std::optional<Clock::time_point> since_;
  bool is_told_ = false;
};

// If another dtctl has locked the home, they are ended at a later look.
void end_early(const Home& home, const Follow& follow, const std::vector<RunView>& runs, std::vector<std::string>& troubles)
{
  if (!follow.far_behind) return;
  const auto hopeless = follow.far_behind(runs);
  if (hopeless.empty()) return;
  const auto locked = LockedHome::try_lock(home);
  if (!locked) return;
  try {
    for (const auto& [key, why] : hopeless)
      jobs::cancel_runs(*locked, {&key, 1}, {.who = {}, .kind = cause_kind::ended_early, .why = why});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::scheduler) throw;
    troubles.emplace_back(error.what());
  }
}

[[noreturn]] void leave(Context& context, const Interrupt& interrupt)
{
  context.messages.info(
      "Detached; the jobs keep running. Follow them again with: dtctl status --follow. Stop them with: dtctl cancel last");
  interrupt.obey();
}

} // namespace

Option* add_patience_option(Verb& verb, std::string& patience)
{
  return verb
      .add_option(
          "--patience", patience,
          "how long to keep asking a scheduler that does not answer; after that, exit 3 (default: 15m; 45s, 1h30m, HH:MM:SS)")
      ->type_name("DURATION");
}

double duration_of_option_s(const std::string& option, const std::string& text)
{
  const auto seconds = parse_duration_s(text);
  if (!seconds) throw Error(ErrorKind::usage, option + " " + duration_refusal(text));
  return static_cast<double>(*seconds);
}

double patience_s(const std::string& text)
{
  return text.empty() ? default_patience_s : duration_of_option_s("--patience", text);
}

bool is_on_shared_scheduler(const std::vector<RunView>& runs)
{
  return std::any_of(runs.begin(), runs.end(), [](const RunView& run) {
    return !is_final(run.row.state) && run.live && run.live->submission &&
           scheduler_row(run.live->submission->scheduler).serves_other_users;
  });
}

FollowEnd follow_runs(Context& context, const Home& home, const Follow& follow)
{
  const Interrupt interrupt;
  const auto start = Clock::now();
  const bool is_quiet = !context.messages.should_log(spdlog::level::info);
  const auto view = make_progress_view(follow.terminal, follow.to_stderr, is_quiet);
  std::minstd_rand jitter{std::random_device{}()};
  Settling settling;
  Patience patience(context, follow.patience_s);
  Room room;
  Hindrances hindrances(context);
  Standstill standstill(context);
  StudyClock clock(home, follow.earlier, follow.most_runs);
  for (auto runs = unseen_runs(follow);;) {
    const auto look = Clock::now();
    std::vector<std::string> troubles;
    look_again(home, runs, troubles);
    const double look_s = seconds_since(look);
    clock.look(runs);
    view->show(runs, clock.remaining_s(runs, now_unix_s()));
    hindrances.tell(runs, *view);
    standstill.tell(runs, *view);
    submit_deferred_if_room(context, home, runs, room, *view, troubles);
    end_early(home, follow, runs, troubles);
    if (settling.is_over(all_ended(home, runs), runs)) return FollowEnd::all_ended;
    if (patience.is_over(troubles, *view)) return FollowEnd::unreachable;
    if (!follow.to_stderr && reader_left()) return FollowEnd::reader_left;
    const double left_s = follow.timeout_s - seconds_since(start);
    if (follow.timeout_s > 0 && left_s <= 0) return FollowEnd::timed_out;
    const double pause = pause_s(look_s, runs, jitter);
    interrupt.sleep_s(follow.timeout_s > 0 ? std::min(left_s, pause) : pause);
    if (interrupt.signal() != 0) leave(context, interrupt);
  }
}

void print_outcome(Context& context, const std::vector<RunView>& runs)
{
  std::vector<RunView> bad;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(bad),
               [](const RunView& run) { return is_final(run.row.state) && run.row.state != RunState::succeeded; });
  std::vector<RunView> told = bad;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(told), [](const RunView& run) { return run.row.has_diverged(); });
  const auto unsubmitted =
      std::any_of(runs.begin(), runs.end(), [](const RunView& run) { return run.row.state == RunState::planned; });
  if (context.json)
    context.out.table(status_table(runs));
  else if (!told.empty())
    context.out.table(status_table_without_common(told));
  const bool all_over = std::all_of(runs.begin(), runs.end(), [](const RunView& run) { return is_final(run.row.state); });
  context.out.field("states", all_over ? "ended" : "runs",
                    {state_counts(runs), summary(runs), bad.empty() ? Style::good : Style::bad});
  print_common_causes(context, runs);
  if (!bad.empty()) context.messages.info("To see why: dtctl explain --failed. To try again: dtctl retry --failed.");
  if (const auto diverged = told.size() - bad.size(); diverged > 0)
    context.messages.warn("{} of {} runs diverged: their programs ended well, but with a loss of NaN or infinity. What to do: "
                          "dtctl explain {}",
                          diverged, runs.size(), short_key(told.back().row.key));
  if (unsubmitted) context.messages.warn("some runs were never submitted. Submit the recipe again: only they will be submitted.");
}

} // namespace dt::cli
