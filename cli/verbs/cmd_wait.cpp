// dtctl wait, dtctl watch: follow the selected runs until they have ended.
#include "cli/follow/follow.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct WaitOptions {
  Selector selector;
  std::string timeout, patience;
};

double timeout_s(const std::string& text)
{
  if (text.empty()) return 0;
  const double seconds = duration_of_option_s("--timeout", text);
  if (seconds == 0)
    throw Error(ErrorKind::usage, "--timeout 0 would end the wait at once; leave --timeout out to wait without limit");
  return seconds;
}

std::vector<std::string> names_of(const std::vector<RunView>& runs)
{
  std::vector<std::string> names;
  for (const auto& run : runs) names.push_back(run.row.name);
  return names;
}

ExitCode follow(Context& context, const WaitOptions& options, bool to_stderr)
{
  const double limit_s = timeout_s(options.timeout), patience = patience_s(options.patience);
  ResultsStore results(context);
  const auto selection = select(results, options.selector);
  const auto terminal = to_stderr ? context.err_terminal : context.terminal;
  Follow asked{keys_of(selection.runs), names_of(selection.runs), terminal, to_stderr, limit_s};
  asked.patience_s = patience;
  const auto end = follow_runs(context, results.home(), asked);
  if (end != FollowEnd::unreachable) context.troubles.clear(); // only the current reachability counts
  const auto runs = look_again(results, selection);
  print_outcome(context, runs);
  if (end != FollowEnd::timed_out) return exit_code_of(runs);
  std::vector<RunView> open;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(open), [](const RunView& run) { return !is_final(run.row.state); });
  context.messages.warn("the timeout of {} has passed, and {} not ended: {}. The jobs continue without dtctl.",
                        format_duration(limit_s), open.size() == 1 ? "1 run has" : fmt::format("{} runs have", open.size()),
                        states_text(open));
  if (const auto hindered = std::count_if(runs.begin(), runs.end(), is_hindered); hindered > 0)
    context.messages.warn("{} cannot start as submitted; dtctl explain says why",
                          hindered == 1 ? "1 run" : fmt::format("{} runs", hindered));
  return ExitCode::wait_timed_out;
}

// In JSON the only value is the outcome, so progress goes to standard error.
ExitCode watch(Context& context, const WaitOptions& options) { return follow(context, options, context.json); }
ExitCode wait(Context& context, const WaitOptions& options) { return follow(context, options, true); }

void add_wait_options(Verb& verb, WaitOptions& options)
{
  add_selector(verb, options.selector);
  verb.add_option("--timeout", options.timeout, "stop waiting after this time (45s, 1h30m, HH:MM:SS or D-HH:MM:SS) and exit 124")
      ->type_name("DURATION");
  add_patience_option(verb, options.patience);
}

} // namespace

void add_watch(Commands& commands)
{
  auto options = std::make_shared<WaitOptions>();
  auto& verb = commands.add(
      {"watch", run_verbs, "Show the progress of runs until they have ended.",
       "In a terminal the table is redrawn; elsewhere a line is printed when the state of a run changes, and once a minute one\n"
       "about all runs, less often when they take hours. As soon as a run has finished, an estimate of the time that all runs\n"
       "still take is shown; it follows from the times of the finished runs. Ctrl-C leaves the jobs running. Exit 1 if a run "
       "did\n"
       "not succeed."},
      [options](Context& context) { return watch(context, *options); });
  add_wait_options(verb, *options);
}

void add_wait(Commands& commands)
{
  auto options = std::make_shared<WaitOptions>();
  auto& verb = commands.add(
      {"wait", run_verbs, "Wait until runs have ended; progress goes to standard error.",
       "Progress is shown as by watch. Ctrl-C leaves the jobs running. Exit 1 if a run did not succeed, 124 if --timeout\n"
       "passed. If the scheduler will not start a run as submitted (the run exceeds a limit, or is held), wait prints the "
       "reason\n"
       "and continues to wait. Runs for which the scheduler had no room are submitted when others end.\n\n"
       "Example:\n  dtctl wait last --timeout 1h && dtctl results"},
      [options](Context& context) { return wait(context, *options); });
  add_wait_options(verb, *options);
}

} // namespace dt::cli
