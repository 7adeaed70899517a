// dtctl status: the current state of the selected runs, or of all studies.
#include "cli/answers/common_causes.hpp"
#include "cli/follow/deferred_runs.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/runs/study_table.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/text.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace dt::cli {
namespace {

struct StatusOptions {
  Selector selector;
  bool all = false;
  std::int64_t limit = 50; // studies
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

ExitCode status(Context& context, const StatusOptions& options)
{
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
      {"status", follow_verbs, "Print the state of runs: step, time left, cause of a failure; --all: of all studies.",
       "States come from the runs' files and the scheduler. Runs for which the scheduler had no room are submitted\n"
       "now, as far as there is room.\n\n"
       "Examples:\n  dtctl status --all\n  dtctl status quickstart --failed\n  dtctl status --all --where tag=paper"},
      [options](Context& context) { return status(context, *options); });
  add_selector(verb, options->selector);
  auto* all =
      verb.add_flag("-a,--all", options->all,
                    "list all studies, the newest first, in place of the runs of one; with --where those with such a run");
  verb.add_option("-n,--limit", options->limit, "with --all: at most N studies (50)")
      ->type_name("N")
      ->check(positive_number())
      ->needs(all);
}

} // namespace dt::cli
