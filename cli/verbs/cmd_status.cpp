// dtctl status: the current state of the selected runs.
#include "cli/answers/common_causes.hpp"
#include "cli/follow/hand_over.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"

#include <memory>

namespace dt::cli {
namespace {

// Submits runs that an earlier call deferred because the scheduler's queue was full, as many as fit now.
void hand_over(Context& context, ResultsStore& results, Selection& selection)
{
  std::vector<std::string> troubles;
  const auto done = hand_over_deferred(results.home(), selection.runs, troubles);
  context.note(troubles);
  tell(context, done);
  if (done.submitted > 0 || !done.refusals.empty()) selection.runs = look_again(results, selection);
}

ExitCode status(Context& context, const Selector& selector)
{
  ResultsStore results(context);
  auto selection = select(results, selector);
  hand_over(context, results, selection);
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
  auto selector = std::make_shared<Selector>();
  auto& verb = commands.add(
      {"status", run_verbs, "Print the state of runs: step, time left, cause of a failure.",
       "States come from the runs' files and the scheduler. Runs for which the scheduler had no room are submitted now, as far\n"
       "as there is room.\n\nExample:\n  dtctl status quickstart --failed"},
      [selector](Context& context) { return status(context, *selector); });
  add_selector(verb, *selector);
}

} // namespace dt::cli
