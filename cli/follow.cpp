#include "cli/follow.hpp"

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/run_tables.hpp"
#include "cli/standard_out.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <chrono>
#include <map>

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

// Asks again about every run that is not final.
void look_again(const Home& home, std::vector<RunView>& runs)
{
  std::vector<std::string> open;
  std::map<std::string, RunView*> by_key;
  for (auto& run : runs) {
    if (is_final(run.row.state)) continue;
    open.push_back(run.row.key);
    by_key[run.row.key] = &run;
  }
  if (open.empty()) return;
  for (auto& status : jobs::reconcile(home, open)) {
    auto& run = *by_key.at(status.key);
    run.row.state = status.verdict.state;
    run.row.cause = status.verdict.cause;
    run.row.attempt = status.attempt;
    run.live = std::move(status);
  }
}

bool all_ended(const std::vector<RunView>& runs)
{
  return std::all_of(runs.begin(), runs.end(),
                     [](const RunView& run) { return is_final(run.row.state) || run.row.state == RunState::planned; });
}

// Often enough to look alive, and never more than a tenth of the time spent on asking.
double pause_s(double last_look_s) { return std::clamp(10 * last_look_s, 0.3, 10.0); }

[[noreturn]] void leave(Context& context, const Interrupt& interrupt)
{
  context.messages.info("stopped looking on; the jobs go on. Come back with: dtctl watch, stop them with: dtctl cancel");
  interrupt.obey();
}

} // namespace

FollowEnd follow_runs(Context& context, const Home& home, const Follow& follow)
{
  const Interrupt interrupt;
  const auto start = Clock::now();
  const auto view = make_progress_view(follow.terminal, follow.to_stderr);
  for (auto runs = unseen_runs(follow);;) {
    const auto look = Clock::now();
    look_again(home, runs);
    const double look_s = seconds_since(look);
    view->show(runs);
    if (all_ended(runs)) return FollowEnd::all_ended;
    if (!follow.to_stderr && reader_left()) return FollowEnd::reader_left;
    const double left_s = follow.timeout_s - seconds_since(start);
    if (follow.timeout_s > 0 && left_s <= 0) return FollowEnd::timed_out;
    interrupt.sleep_s(follow.timeout_s > 0 ? std::min(left_s, pause_s(look_s)) : pause_s(look_s));
    if (interrupt.signal() != 0) leave(context, interrupt);
  }
}

void print_outcome(Context& context, const std::vector<RunView>& runs)
{
  std::vector<RunView> bad;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(bad),
               [](const RunView& run) { return is_final(run.row.state) && run.row.state != RunState::succeeded; });
  const auto unsubmitted =
      std::any_of(runs.begin(), runs.end(), [](const RunView& run) { return run.row.state == RunState::planned; });
  if (context.json)
    context.out.table(status_table(runs));
  else if (!bad.empty())
    context.out.table(status_table(bad));
  context.out.field("states", "ended", {state_counts(runs), summary(runs), bad.empty() ? Style::good : Style::bad});
  if (!bad.empty()) context.messages.info("why: dtctl explain --failed; again: dtctl retry --failed");
  if (unsubmitted) context.messages.warn("some runs were never submitted; submit the recipe again, only they will be");
}

} // namespace dt::cli
