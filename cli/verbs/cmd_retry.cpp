// dtctl retry: a new attempt for runs that ended without success.
#include "cli/follow/follow.hpp"
#include "cli/planning/planned_again.hpp"
#include "cli/planning/resolve.hpp"
#include "cli/runs/checkpoints.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/submission/submission.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct RetryOptions {
  Selector selector;
  bool wait = false;
  std::int64_t max_jobs = 0;
  std::string patience;
};

bool can_retry(const RunView& run) { return is_final(run.row.state) && run.row.state != RunState::succeeded; }

std::string study_of(const Selection& selection, const RunView& run)
{
  if (selection.study) return selection.study->id;
  return run.live && run.live->submission ? run.live->submission->study : run.row.study;
}

// Groups the indices of the runs by study, because `all` can select runs of several studies. A run stays in the study of its
// latest attempt.
std::map<std::string, std::vector<std::size_t>> by_study(const Selection& selection)
{
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < selection.runs.size(); ++i) places[study_of(selection, selection.runs[i])].push_back(i);
  return places;
}

std::vector<jobs::SubmitReport> submit_again(const LockedHome& home, ResultsStore& results, const Selection& selection,
                                             std::int64_t max_jobs)
{
  Identities identities(home);
  const auto agent = agent_program().string();
  const auto planned = planned_again(keys_of(selection.runs), identities);
  std::vector<jobs::SubmitReport> reports(planned.size());
  for (const auto& [study, places] : by_study(selection)) {
    const auto record = study.empty() ? std::nullopt : read_study(home.study(study));
    if (record) mark_pending(home, study);
    std::vector<PlannedRun> runs;
    for (const auto place : places) runs.push_back(planned[place]);
    auto some = jobs::submit_runs(home, runs,
                                  {.engine = identities.engine(),
                                   .study = study,
                                   .rules = {.max_running = max_jobs},
                                   .agent = agent,
                                   .simulator = identities.simulator()});
    for (std::size_t i = 0; i < places.size(); ++i) reports[places[i]] = std::move(some[i]);
    if (record) results.take_in(*record);
  }
  tell_checkpoints(home, reports);
  return reports;
}

ExitCode retry(Context& context, const RetryOptions& options)
{
  const auto patience = patience_s(options.patience);
  std::optional home(context.locked_home());
  ResultsStore results(context, *home);
  auto selection = select(results, options.selector);
  const auto all = selection.runs.size();
  std::erase_if(selection.runs, [](const RunView& run) { return !can_retry(run); });
  if (all > selection.runs.size())
    context.messages.info("{} not submitted again: already succeeded, or not ended yet",
                          counted(all - selection.runs.size(), "run"));

  std::vector<std::string> names;
  for (const auto& run : selection.runs) names.push_back(run.row.name);
  const auto reports =
      selection.runs.empty() ? std::vector<jobs::SubmitReport>() : submit_again(*home, results, selection, options.max_jobs);
  home.reset(); // follow_runs takes the lock itself when it submits deferred runs
  print_reports(context, reports, names);
  if (!options.wait || selection.runs.empty()) return exit_code_of(reports);

  Follow follow{keys_of(selection.runs), names, context.err_terminal};
  follow.patience_s = patience;
  follow_runs(context, results.home(), follow);
  const auto runs = look_again(results, selection);
  print_outcome(context, runs);
  return exit_code_of(runs);
}

} // namespace

void add_retry(Commands& commands)
{
  auto options = std::make_shared<RetryOptions>();
  auto& verb = commands.add(
      {"retry", run_verbs, "Submit failed runs again.",
       "Earlier attempts keep their files, and the new attempt continues from their last checkpoint. Runs that succeeded or\n"
       "have not ended are not submitted again.\n\n"
       "Example:\n  dtctl retry last --failed --wait"},
      [options](Context& context) { return retry(context, *options); });
  add_selector(verb, options->selector);
  add_max_jobs_option(verb, options->max_jobs);
  add_patience_option(verb, options->patience);
  verb.add_flag("--wait", options->wait, "wait until these runs have ended; exit 1 if one did not succeed");
}

} // namespace dt::cli
