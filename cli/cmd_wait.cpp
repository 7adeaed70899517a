// dtctl wait, dtctl watch: looking on until the selected runs have ended.
#include "cli/follow.hpp"
#include "cli/run_tables.hpp"
#include "cli/selectors.hpp"
#include "cli/verbs.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <memory>

namespace dt::cli {
namespace {

struct WaitOptions {
  Selector selector;
  std::string timeout;
};

double timeout_s(const std::string& text)
{
  if (text.empty()) return 0;
  const auto seconds = parse_duration_s(text);
  if (!seconds || *seconds == 0)
    throw Error(ErrorKind::usage, "--timeout \"" + text + "\" is no duration; write 90, 45s, 1h30m or HH:MM:SS");
  return static_cast<double>(*seconds);
}

std::vector<std::string> names_of(const std::vector<RunView>& runs)
{
  std::vector<std::string> names;
  for (const auto& run : runs) names.push_back(run.row.name);
  return names;
}

ExitCode follow(Context& context, const WaitOptions& options, bool to_stderr)
{
  const double limit_s = timeout_s(options.timeout);
  ResultsStore results(context);
  const auto selection = select(results, options.selector);
  const auto terminal = to_stderr ? context.err_terminal : context.terminal;
  const auto end =
      follow_runs(context, results.home(), {keys_of(selection.runs), names_of(selection.runs), terminal, to_stderr, limit_s});
  context.troubles.clear(); // what counts is whether it can be reached now
  const auto runs = look_again(results, selection);
  print_outcome(context, runs);
  if (end != FollowEnd::timed_out) return exit_code_of(runs);
  const auto hindered = std::count_if(runs.begin(), runs.end(), is_hindered);
  if (hindered > 0)
    context.messages.warn("{} have passed, and {} of the runs that have not ended cannot start as they are: dtctl explain",
                          format_duration(limit_s), hindered);
  else
    context.messages.warn("{} have passed and runs are still going on; they go on without us", format_duration(limit_s));
  return ExitCode::wait_timed_out;
}

// In JSON the one value is the outcome, so progress is a message.
ExitCode watch(Context& context, const WaitOptions& options) { return follow(context, options, context.json); }
ExitCode wait(Context& context, const WaitOptions& options) { return follow(context, options, true); }

void add_wait_options(CLI::App& verb, WaitOptions& options)
{
  add_selector(verb, options.selector);
  verb.add_option("--timeout", options.timeout, "give up after this time: 90, 45s, 1h30m or HH:MM:SS; exit 124")
      ->type_name("DURATION");
}

} // namespace

void add_watch(Commands& commands)
{
  auto options = std::make_shared<WaitOptions>();
  auto& verb =
      commands.add({"watch", run_verbs, "Watch runs as they go on, until they have ended.",
                    "Redraws in a terminal; elsewhere a line whenever a run's state changes. Ctrl-C leaves the jobs running.\n"
                    "Exit 1 when a run did not succeed."},
                   [options](Context& context) { return watch(context, *options); });
  add_wait_options(verb, *options);
}

void add_wait(Commands& commands)
{
  auto options = std::make_shared<WaitOptions>();
  auto& verb = commands.add(
      {"wait", run_verbs, "Wait until runs have ended; progress goes to standard error.",
       "Ctrl-C leaves the jobs running. Exit 1 when a run did not succeed, 124 when --timeout passed. When the\n"
       "scheduler will not start a run as it is (the run exceeds a limit, or is held), wait prints the reason and goes on\n"
       "waiting. Runs for which the scheduler had no room are submitted as others end.\n\n"
       "Example:\n  dtctl wait last --timeout 1h && dtctl results"},
      [options](Context& context) { return wait(context, *options); });
  add_wait_options(verb, *options);
}

} // namespace dt::cli
