// dtctl status: the current state of the selected runs, or of all studies; with --follow until the runs have ended.
#include "cli/answers/common_causes.hpp"
#include "cli/follow/deferred_runs.hpp"
#include "cli/follow/follow.hpp"
#include "cli/follow/notify.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/runs/study_table.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct StatusOptions {
  Selector selector;
  bool all = false;
  std::int64_t limit = 50; // studies
  bool follow = false;
  std::string timeout, patience, notify; // of follow
};

// Updates only the listed studies, so that a long history costs nothing.
void refresh(ResultsStore& results, const std::vector<store::StudyRow>& studies)
{
  for (const auto& study : studies)
    if (study.succeeded + study.failed < study.runs)
      results.up_to_date([&] { return store::runs_of_study(results.database(), study.id); });
}

ExitCode list_studies(Context& context, const StatusOptions& options)
{
  const auto& selector = options.selector;
  if (selector.what != Selector().what || selector.failed)
    throw Error(ErrorKind::usage, "status --all lists the studies; leave out " +
                                      (selector.failed ? std::string("--failed") : "the selector " + printable(selector.what)));
  ResultsStore results(context);
  refresh(results, listed_studies(results.database(), selector.where, options.limit));
  auto table = study_table(listed_studies(results.database(), selector.where, options.limit));
  if (!selector.where.empty()) table.when_empty = "no study has a run that meets the condition";
  context.out.table(table);
  return ExitCode::ok;
}

// Submits runs that an earlier call deferred because the scheduler's queue was full, as many as fit now.
void submit_deferred(Context& context, ResultsStore& results, Selection& selection)
{
  std::vector<std::string> troubles;
  const auto done = submit_deferred(results.home(), selection.runs, troubles);
  context.note(troubles);
  tell(context, done);
  if (done.submitted > 0 || !done.refusals.empty()) selection.runs = look_again(results, selection);
}

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
ExitCode follow(Context& context, const StatusOptions& options)
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

ExitCode status(Context& context, const StatusOptions& options)
{
  if (options.follow) return follow(context, options);
  if (options.all) return list_studies(context, options);
  ResultsStore results(context);
  auto selection = select(results, options.selector);
  submit_deferred(context, results, selection);
  if (selection.study)
    context.out.field("study", "study",
                      {selection.study->id, selection.study->name + " (" + short_key(selection.study->id) + ")", Style::strong});
  context.out.table(status_table_without_common(selection.runs));
  context.out.field("states", "in all", {state_counts(selection.runs), summary(selection.runs), Style::plain});
  print_common_causes(context, selection.runs);
  return ExitCode::ok;
}

} // namespace

void add_status(Commands& commands)
{
  auto options = std::make_shared<StatusOptions>();
  auto& verb = commands.add(
      {"status", follow_verbs, "Print the state of runs: step, time left, cause of a failure; --follow: until they have ended.",
       "With --follow:\n"
       "  in a terminal   a table that is redrawn, and an estimate of the time that all runs still take\n"
       "  elsewhere       a line when the state of a run changes, and now and then one about all runs\n"
       "  with --quiet    nothing but warnings, such as a run that its scheduler will not start\n"
       "  Ctrl-C          leaves the jobs running\n"
       "  exit code       0: all succeeded, 1: a run did not, 3: no scheduler answered, 124: --timeout passed\n\n"
       "Examples:\n  dtctl status --all --where tag=paper\n"
       "  dtctl status --follow --quiet --timeout 1h && dtctl results\n"
       "  nohup dtctl status -f -q --notify 'mail -s \"$DTCTL_STUDY $DTCTL_STATE\" me@example.org </dev/null' &"},
      [options](Context& context) { return status(context, *options); });
  add_selector(verb, options->selector);
  auto* all =
      verb.add_flag("-a,--all", options->all,
                    "list all studies, the newest first, in place of the runs of one; with --where those with such a run");
  verb.add_option("-n,--limit", options->limit, "with --all: at most N studies (50)")
      ->type_name("N")
      ->check(positive_number())
      ->needs(all);
  auto* follow =
      verb.add_flag("-f,--follow", options->follow, "show the progress of the runs until they have ended")->excludes(all);
  verb.add_option("--timeout", options->timeout,
                  "with --follow: stop waiting after this time (45s, 1h30m, HH:MM:SS or D-HH:MM:SS) and exit 124")
      ->type_name("DURATION")
      ->needs(follow);
  add_patience_option(verb, options->patience)->needs(follow);
  add_notify_option(verb, options->notify)->needs(follow);
}

} // namespace dt::cli
