// dtctl status: how the selected runs stand now.
#include "cli/run_tables.hpp"
#include "cli/selectors.hpp"
#include "cli/verbs.hpp"

#include <memory>

namespace dt::cli {
namespace {

ExitCode status(Context& context, const Selector& selector)
{
  ResultsStore results(context);
  const auto selection = select(results, selector);
  if (selection.study)
    context.out.field("study", "study",
                      {selection.study->id, selection.study->name + " (" + short_key(selection.study->id) + ")", Style::strong});
  context.out.table(status_table(selection.runs));
  context.out.field("states", "in all", {state_counts(selection.runs), summary(selection.runs), Style::plain});
  return ExitCode::ok;
}

} // namespace

void add_status(Commands& commands)
{
  auto selector = std::make_shared<Selector>();
  auto& verb = commands.add(
      {"status", run_verbs, "How runs stand now: state, step, time left, cause of a failure.",
       "States come from the runs' own files and the scheduler, asked now.\n\nExample:\n  dtctl status quickstart --failed"},
      [selector](Context& context) { return status(context, *selector); });
  add_selector(verb, *selector);
}

} // namespace dt::cli
