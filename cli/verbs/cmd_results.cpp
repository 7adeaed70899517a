// dtctl results: throughput, scaling, communication and accuracy of a study.
#include "cli/output/answers/common_causes.hpp"
#include "cli/output/answers/doubt_output.hpp"
#include "cli/output/answers/pareto_output.hpp"
#include "cli/output/answers/prediction_tables.hpp"
#include "cli/output/answers/scaling_table.hpp"
#include "cli/output/answers/verdict_output.hpp"
#include "cli/output/answers/why_output.hpp"
#include "cli/output/run_tables.hpp"
#include "cli/runs/raced_study.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/text.hpp"
#include "store/query/compared_runs.hpp"
#include "store/query/doubts.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct ResultsOptions {
  Selector selector;
  bool runs = false;
  bool why = false;
  std::string best_by; // a criterion; empty: none
  bool predictions = false;
};

// How to read a table of points. Empty if there is only one run.
std::string notes_on(const std::vector<store::ScalingRow>& points)
{
  const bool has_repeats = std::any_of(points.begin(), points.end(), [](const auto& point) { return point.runs > 1; });
  std::vector<std::string> notes;
  if (has_repeats) notes.emplace_back("Geometric means over repeats; comm. and accuracy: means.");
  if (points.size() > 1) notes.emplace_back("Speed-up and efficiency are relative to the smallest size.");
  if (std::any_of(points.begin(), points.end(), [](const auto& point) { return point.paired_blocks > 0; }))
    notes.emplace_back("Its intervals compare the sizes within the rounds of the study.");
  if (has_repeats) notes.emplace_back("Use --runs for one row per run.");
  return join(notes, " ");
}

// Prints the stored predictions of the study's recipe beside what was measured since.
ExitCode predictions(Context& context, ResultsStore& results, const Selection& selection)
{
  results.take_in_predictions();
  context.out.table(without_empty_columns(
      score_table(store::scored_predictions(results.database(), selection.study ? selection.study->name : ""))));
  return ExitCode::ok;
}

ExitCode results(Context& context, const ResultsOptions& options)
{
  ResultsStore results(context);
  const auto selection = select(results, options.selector);
  if (options.predictions) return predictions(context, results, selection);
  if (selection.study) {
    const auto& study = *selection.study;
    context.out.field("study", "study",
                      {study.id, fmt::format("{} ({}), {}", study.name, short_key(study.id), study.kind), Style::strong});
    context.out.field("kind", "", text_cell(study.kind));
  }
  const bool by_run = options.runs || !selection.whole_study;
  const bool lists_runs_only = by_run && options.best_by.empty();
  const auto rows = lists_runs_only ? std::vector<store::RunRow>() : rows_of(selection.runs);
  auto figures = store::figures_of(rows);
  const auto points = by_run ? std::vector<store::ScalingRow>() : store::scaling_of_runs(rows, figures, selection.study->kind);
  const auto labels = labels_of(selection);
  if (options.why)
    print_why(context, results, selection);
  else if (!options.best_by.empty())
    print_best(context, best_points_of(compared_points(selection, figures), rows, options.best_by, labels));
  else if (by_run)
    context.out.table(without_empty_columns(measurement_table(selection.runs, labels)));
  else
    context.out.table(without_empty_columns(scaling_table(points, labels)));
  const auto doubts = store::doubts_of(results.database(), selection.study ? selection.study->id : "", keys_of(selection.runs));
  print_doubts(context, doubts);
  context.out.field("states", "in all", {state_counts(selection.runs), summary(selection.runs), Style::plain});
  print_common_causes(context, selection.runs);
  if (!by_run) {
    const auto facts = deciding_facts(doubts);
    auto verdict = verdict_of(selection.study->kind, compared_points(selection, std::move(figures)), points, facts);
    let_race_decide(verdict, record_of(results.home(), *selection.study), rows, labels, facts);
    print_verdict(context, verdict);
  }
  const bool has_notes = !options.why && options.best_by.empty() && !context.json;
  if (const auto notes = notes_on(points); !notes.empty() && has_notes) context.messages.info("{}", notes);
  return ExitCode::ok;
}

} // namespace

void add_results(Commands& commands)
{
  auto options = std::make_shared<ResultsOptions>();
  auto& verb = commands.add(
      {"results", result_verbs, "Print throughput, speed-up, efficiency, communication share and accuracy of a study.",
       "Throughput is the geometric mean over repeats, over the measured steps. Efficiency is throughput per worker, as a "
       "fraction of\n"
       "that at the smallest size of the same label (the baseline). Parameter servers are not workers; with servers, the\n"
       "column \"efficiency/process\" counts all ranks. It is a ratio of\n"
       "geometric means over repeats. Speed-up is the throughput divided by that at the smallest size of the same label, where\n"
       "it is 1. A label with one measured size, and a baseline above the study's smallest size, have neither: \"-\".\n"
       "The interval is Welch's 95% t interval on logarithms; it needs 3 runs of both sizes. In a ladder the\n"
       "sizes are compared in pairs within their repeat, so that a drift of the machine does not widen the interval.\n"
       "The communication share is the part of a step in which a rank waits on communication and does nothing else.\n"
       "To target: the time until the target accuracy was reached, the geometric mean over repeats. If a run missed it:\n"
       "the median, in which a miss is infinite. \"1.9 s (2/3)\": 2 of 3 runs reached it. \"- (1/3)\": most did not.\n"
       "Below the table: conditions that may have distorted the figures. \"machine busy\": other processes, other virtual\n"
       "machines, or slow or uneven work before and during the steps. \"slow node\": a node was slower than all others.\n"
       "\"slow network\": communication between nodes was slow. Runs that are not selected are only used for comparison.\n"
       "Last comes the verdict: which label is the best, or how efficiency falls, and how certain that is.\n"
       "With --failed, --where or a run's key there is one row per run.\n"
       "--best-by prints each point with a criterion and its node-hours, the best first. A point is in the Pareto set if no\n"
       "other point is at least as good in both and better in one.\n"
       "With --why there is a row per point with the points of efficiency that each cause costs (+: gains), relative to the\n"
       "smallest size of the same label, or to a machine without any waiting if there is one size. batch: smaller batches\n"
       "take more time per sample. contention: passes and updates take longer than on one rank alone, on the faster\n"
       "ranks too (shared caches, memory, cores). balance: some ranks always have more work or slower cores. jitter: in\n"
       "each step another rank is late. input: waiting for data. exposed comm.: waiting for messages and all other time\n"
       "without work. queueing: waiting at busy parameter servers. The causes multiply exactly to the efficiency.\n"
       "Brackets behind a cost are its 95% interval from the scatter of the runs; it needs 3 runs of both sizes.\n\n"
       "Examples:\n  dtctl results quickstart\n  dtctl results last --best-by time-to-target\n  dtctl results quickstart --why"},
      [options](Context& context) { return results(context, *options); });
  add_selector(verb, options->selector);
  verb.add_flag("--predictions", options->predictions, "print the stored predictions of dtctl predict and their errors");
  verb.add_flag("--runs", options->runs, "print one row per run, not one per point");
  verb.add_option("--best-by", options->best_by, "print the points that are best by a criterion and by node-hours")
      ->type_name("CRITERION")
      ->one_of(criteria_names());
  verb.add_flag("--why", options->why,
                "print where the efficiency went: points lost to the smaller batch, contention, load imbalance, jitter, input, "
                "exposed communication and queues of servers; their sum is the whole loss");
}

} // namespace dt::cli
