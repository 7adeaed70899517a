// dtctl watch: follows the selected runs until they have ended.
#include "cli/follow/follow.hpp"
#include "cli/follow/notify.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct WatchOptions {
  Selector selector;
  std::string timeout, patience, notify;
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

// In JSON the only value is the outcome, so progress goes to standard error.
ExitCode watch(Context& context, const WatchOptions& options)
{
  const bool to_stderr = context.json;
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
  const auto code = end == FollowEnd::timed_out ? ExitCode::wait_timed_out : exit_code_of(runs);
  const auto& study = selection.study;
  notify(context, options.notify, study ? NotifiedStudy{study->name, study->id} : NotifiedStudy{}, runs, code);
  if (end != FollowEnd::timed_out) return code;
  std::vector<RunView> open;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(open), [](const RunView& run) { return !is_final(run.row.state); });
  context.messages.warn("the timeout of {} has passed, and {} not ended: {}. The jobs continue without dtctl.",
                        format_duration(limit_s), counted(open.size(), "run has", "runs have"), states_text(open));
  if (const auto hindered = std::count_if(runs.begin(), runs.end(), is_hindered); hindered > 0)
    context.messages.warn("{} cannot start as submitted; dtctl explain says why", counted(hindered, "run"));
  return code;
}

} // namespace

void add_watch(Commands& commands)
{
  auto options = std::make_shared<WatchOptions>();
  auto& verb =
      commands.add({"watch", follow_verbs, "Show the progress of runs until they have ended; with --quiet only wait.",
                    "Progress:\n  in a terminal   a table that is redrawn, and an estimate of the time that all runs still take\n"
                    "  elsewhere       a line when the state of a run changes, and now and then one about all runs\n"
                    "  with --quiet    nothing but warnings, such as a run that its scheduler will not start\n"
                    "  Ctrl-C          leaves the jobs running\n"
                    "  exit code       0: all succeeded, 1: a run did not, 3: no scheduler answered, 124: --timeout passed\n\n"
                    "Examples:\n  dtctl watch\n  dtctl watch --quiet --timeout 1h && dtctl results\n"
                    "  nohup dtctl watch --quiet --notify 'mail -s \"$DTCTL_STUDY $DTCTL_STATE\" me@example.org </dev/null' &"},
                   [options](Context& context) { return watch(context, *options); });
  add_selector(verb, options->selector);
  verb.add_option("--timeout", options->timeout, "stop waiting after this time (45s, 1h30m, HH:MM:SS or D-HH:MM:SS) and exit 124")
      ->type_name("DURATION");
  add_patience_option(verb, options->patience);
  add_notify_option(verb, options->notify);
}

} // namespace dt::cli
