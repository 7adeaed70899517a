// dtctl cancel: ends live runs.
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include <pwd.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dt::cli {
namespace {

std::string who_asks()
{
  const passwd* user = ::getpwuid(::getuid());
  return fmt::format("{}@{}", user != nullptr ? user->pw_name : std::to_string(::getuid()), host_name());
}

// Whether the run is with its scheduler, or deferred.
bool is_live(const RunView& run)
{
  if (run.row.state == RunState::planned) return run.live && run.live->is_deferred;
  return !is_final(run.row.state);
}

// Refuses a cancel without a selector. The user must name the runs: the newest study may be another one than the user has in
// mind.
void require_choice(ResultsStore& results, const Selector& selector)
{
  if (!selector.what.empty()) return;
  Selector newest;
  newest.what = "last";
  const auto selection = select(results, newest);
  const auto live = std::count_if(selection.runs.begin(), selection.runs.end(), is_live);
  throw Error(
      ErrorKind::usage,
      fmt::format("cancel needs to know which runs: last is {}, of which {} not ended; all is every run; or name a study or a "
                  "key, such as: dtctl cancel last",
                  printable(selection.study->name), counted(live, "run has", "runs have")));
}

ExitCode cancel(Context& context, const Selector& selector)
{
  const auto home = context.locked_home();
  ResultsStore results(context, home);
  require_choice(results, selector);
  auto selection = select(results, selector);
  std::set<std::string> keys; // a run may be in several studies
  std::erase_if(selection.runs, [&](const RunView& run) { return !keys.insert(run.row.key).second; });
  std::vector<RunView> live;
  std::copy_if(selection.runs.begin(), selection.runs.end(), std::back_inserter(live), is_live);
  const auto asked = jobs::cancel_runs(home, keys_of(live), {.unix_s = 0, .who = who_asks()});
  const auto left_alone = selection.runs.size() - live.size();
  context.out.table(status_table(look_again(results, {selection.study, std::move(live), false})));
  context.out.field("cancelled", "cancelled", count_cell(static_cast<std::int64_t>(asked)));
  context.out.field("left_alone", "left alone",
                    {left_alone, fmt::format("{} (already ended, or never submitted)", left_alone), Style::plain});
  return ExitCode::ok;
}

} // namespace

void add_cancel(Commands& commands)
{
  auto selector = std::make_shared<Selector>();
  selector->what.clear(); // it must be given
  auto& verb =
      commands.add({"cancel", run_verbs, "Cancel runs: queued runs never start, running runs are stopped.",
                    "Returns at once. Runs that have ended are not changed.\n\nExample:\n  dtctl cancel last --where 'ranks>=2'"},
                   [selector](Context& context) { return cancel(context, *selector); });
  add_selector(verb, *selector);
}

} // namespace dt::cli
