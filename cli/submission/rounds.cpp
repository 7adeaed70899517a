#include "cli/submission/rounds.hpp"
#include "cli/answers/study_answer.hpp"

#include "cli/answers/doubt_output.hpp"
#include "cli/follow/follow.hpp"
#include "cli/follow/notify.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/tuned_points.hpp"
#include "core/spec/point_label.hpp"
#include "core/spec/run_key.hpp"
#include "jobs/attempts/attempts.hpp"
#include "store/query/doubts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {

StudyInRounds::StudyInRounds(Context& context, Resolved study, SubmissionOptions options)
    : context_(context), study_(std::move(study)), options_(std::move(options)), results_(context)
{
  if (options_.force)
    throw Error(ErrorKind::usage,
                "--force runs again what has succeeded, but this study decides from the runs that are there; to "
                "begin anew, remove them: dtctl remove " +
                    short_key(study_.study.id) + " --runs");
  options_.wait = true;
}

std::map<std::string, store::RunRow> StudyInRounds::rows()
{
  std::map<std::string, store::RunRow> rows;
  for (auto& view : results_.up_to_date([&] { return store::runs_of_study(results_.database(), id()); }))
    rows.emplace(view.row.key, std::move(view.row));
  return rows;
}

bool StudyInRounds::failed_by_setting(const store::RunRow& row) const
{
  return failed_by_itself(row) && jobs::has_stepped(AttemptFolder(context_.home().run(row.key), row.attempt));
}

ExitCode StudyInRounds::run(std::vector<PlannedRun> runs, FarBehind far_behind)
{
  const auto known = rows();
  const auto is_over = [&](const PlannedRun& run) {
    const auto row = known.find(run.key);
    return row != known.end() &&
           (was_ended_early(row->second) || failed_by_setting(row->second) ||
            (has_tried(run.key) && is_final(row->second.state) && row->second.state != RunState::succeeded));
  };
  std::string states;
  for (const auto& [key, row] : known) states += fmt::format("{} {} {}\n", key, name_of(row.state), row.attempt);
  if (states == std::exchange(states_, states) && tried_.size() == runs.size())
    throw Error(ErrorKind::environment, "the last round changed nothing: the states of some runs cannot be known; dtctl status " +
                                            short_key(id()) + " shows which");
  // The study has all runs, but those of the submission come first.
  const auto over = std::stable_partition(runs.begin(), runs.end(), [&](const PlannedRun& run) { return !is_over(run); });
  auto now = study_;
  for (auto* list : {&now.study.run_keys, &now.study.run_names, &now.study.control_keys}) list->clear();
  for (const auto& run : runs) {
    now.study.run_keys.push_back(run.key);
    now.study.run_names.push_back(recipes::run_name(run.spec));
    if (run.spec.control) now.study.control_keys.push_back(run.key);
    tried_.insert(run.key);
  }
  runs.erase(over, runs.end());
  now.runs = std::move(runs);
  auto options = options_;
  options.far_behind = std::move(far_behind);
  return submit_and_wait(context_, results_, now, options);
}

std::int64_t StudyInRounds::count_cancelled(const std::vector<std::string>& keys)
{
  const auto known = rows();
  return std::ranges::count_if(keys, [&](const auto& key) {
    const auto row = known.find(key);
    return row != known.end() && row->second.state == RunState::cancelled && !was_ended_early(row->second);
  });
}

StudyInRounds::Outcome StudyInRounds::outcome()
{
  Outcome outcome{.selection = select(results_, {.what = id(), .failed = false, .where = {}}), .facts = {}, .verdict = {}};
  const auto& selection = outcome.selection;
  outcome.facts = deciding_facts(store::doubts_of(results_.database(), id(), keys_of(selection.runs)));
  outcome.verdict = verdict_of(selection.study ? selection.study->kind : "", compared_points(selection),
                               store::scaling_of_study(results_.database(), id()), outcome.facts, study_.study.tune.metric);
  context_.out.field("study", "study", {id(), study_.study.name + " (" + short_key(id()) + ")", Style::strong});
  return outcome;
}

ExitCode StudyInRounds::finish(const Outcome& outcome)
{
  const auto& selection = outcome.selection;
  print_verdict(context_, outcome.verdict);
  if (selection.study)
    print_answer(context_, answer_of(results_.database(), record_of(results_.home(), *selection.study),
                                     compared_points(selection), rows_of(selection.runs)));
  auto runs = selection.runs;
  std::erase_if(runs, [](const RunView& run) { return run.row.is_control && tried_setting(run.row.series); });
  print_outcome(context_, runs);
  const auto code = exit_code_of(runs);
  notify(context_, options_.notify, {study_.study.name, id()}, runs, code);
  return code;
}

} // namespace dt::cli
