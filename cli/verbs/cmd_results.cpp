// dtctl results: throughput, scaling, communication and accuracy of a study.
#include "cli/answers/common_causes.hpp"
#include "cli/answers/cost.hpp"
#include "cli/answers/doubt_output.hpp"
#include "cli/answers/node_table.hpp"
#include "cli/answers/pareto_output.hpp"
#include "cli/answers/prediction_tables.hpp"
#include "cli/answers/raced_study.hpp"
#include "cli/answers/scaling_table.hpp"
#include "cli/answers/sensitivity_output.hpp"
#include "cli/answers/study_answer.hpp"
#include "cli/answers/tuned_study.hpp"
#include "cli/answers/verdict_output.hpp"
#include "cli/answers/why_tables.hpp"
#include "cli/command/context.hpp"
#include "cli/planning/recipe_options.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/text.hpp"
#include "store/query/attribution_query.hpp"
#include "store/query/compared_runs.hpp"
#include "store/query/doubts.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// `dtctl results --why`: where the efficiency of a study's points went.

constexpr const char* note = "Columns of factors are points of efficiency; they sum to 100 minus the efficiency. `dtctl results "
                             "--help` has their meaning.";

// The largest point of each label. A point without factors has no waterfall.
std::vector<store::Attribution> largest_points(const std::vector<store::Attribution>& points)
{
  std::vector<store::Attribution> largest;
  for (const auto& point : points)
    if (!largest.empty() && largest.back().label == point.label)
      largest.back() = point;
    else
      largest.push_back(point);
  std::erase_if(largest,
                [](const auto& point) { return point.is_baseline || point.is_throttled() || !std::isfinite(point.efficiency); });
  return largest;
}

// Why no point of the study can be attributed.
std::string why_not(const Selection& selection)
{
  const auto& runs = selection.runs;
  const bool is_own_program = std::any_of(runs.begin(), runs.end(), [](const RunView& run) {
    return run.row.state == RunState::succeeded && run.row.strategy.empty(); // a key that only dtengine reads
  });
  return "no run of study " + selection.study->name +
         (is_own_program
              ? " has a throughput: its program does not report samples or the time of its steps, so --why has nothing "
                "to divide among causes. Give dtctl_report.step() the samples of each step"
              : " has the sums of useful time that --why needs: none measured a step after its warm-up. Train longer, with a "
                "larger train.epochs or train.max_steps");
}

void print_waterfalls(Context& context, const std::vector<store::Attribution>& points, const store::PointLabels& labels)
{
  constexpr std::size_t most_waterfalls = 8;
  const auto largest = largest_points(points);
  for (std::size_t i = 0; i < std::min(largest.size(), most_waterfalls); ++i)
    context.out.drawing((i == 0 ? "" : "\n") + waterfall_of(largest[i], labels));
}

// Prints the attribution of every point as a table, a waterfall of the largest point of each label, the communication of a step,
// and sentences. Throws a usage error if the selection is no whole study, or if no run has the sums that are needed.
void print_why(Context& context, ResultsStore& results, const Selection& selection)
{
  if (!selection.whole_study)
    throw Error(ErrorKind::usage, "--why compares the sizes of a study, so it needs a whole study, without --failed and --where");
  const auto& study = *selection.study;
  const auto points = store::attributions_of_study(results.database(), study.id);
  if (points.empty() && study.succeeded > 0) throw Error(ErrorKind::usage, why_not(selection));
  const auto labels = labels_of(selection);
  context.out.table(without_empty_columns(attribution_table(points, labels)));
  print_waterfalls(context, points, labels);
  context.out.table(without_empty_columns(communication_table(points, labels)));
  Json sentences = Json::array();
  for (const auto& point : points)
    if (const auto parts = sentences_of(point, labels); !parts.empty()) {
      for (const auto& part : parts) context.out.field("", &part == &parts.front() ? "why" : " ", text_cell(part));
      sentences.push_back(join(parts, " "));
    }
  for (const auto& phases_note : missing_phases_notes(points)) {
    context.out.field("", "not reported", text_cell(phases_note, Style::warning));
    sentences.push_back(phases_note);
  }
  for (const auto& between : between_epochs_notes(points, labels)) {
    context.out.field("", "between epochs", text_cell(between));
    sentences.push_back(between);
  }
  for (const auto& uncertainty : uncertainty_notes(points)) {
    context.out.field("", "uncertain", text_cell(uncertainty));
    sentences.push_back(uncertainty);
  }
  context.out.data("sentences", std::move(sentences));
  context.out.data("pop_names", pop_names());
  if (!context.json) context.messages.info(note);
}

struct ResultsOptions {
  Selector selector;
  bool runs = false;
  bool why = false;
  std::string best_by; // a metric; empty: none
  std::string profile; // whose price --best-by shows
  bool predictions = false;
};

// Whether the program scales at all, in the first lines.
void print_scale(Context& context, const std::vector<store::ScalingRow>& points, const store::PointLabels& labels)
{
  const auto answer = store::scale_answer(points);
  const auto text = scale_text(answer, labels);
  const auto style = answer.answer == store::Scales::yes  ? Style::good
                     : answer.answer == store::Scales::no ? Style::bad
                                                          : Style::warning;
  context.out.field("", "scales", text_cell(text, style));
  const auto* best = answer.best;
  context.out.data("scales", {{"answer", word_of(answer.answer)},
                              {"text", text},
                              {"speedup", best != nullptr ? Json(best->speedup) : Json()},
                              {"nodes", best != nullptr ? Json(best->nodes) : Json()},
                              {"ranks", best != nullptr ? Json(best->ranks) : Json()}});
}

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

void print_best_points(Context& context, BestPoints best, const std::string& profile)
{
  best.table = with_cost(std::move(best.table), price_of(context, profile));
  print_best(context, best);
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
  auto figures = store::figures_in_studies(results.database(), rows);
  const auto points =
      by_run ? std::vector<store::ScalingRow>() : store::scaling_of(figures, store::sizes_of_kind(selection.study->kind));
  const auto labels = labels_of(selection, by_run ? Controls::shown : Controls::left_out);
  if (!by_run && store::sizes_of_kind(selection.study->kind) == store::StudySizes::grow) print_scale(context, points, labels);
  const bool by_node = !by_run && !options.why && options.best_by.empty() && is_distribution(rows);
  if (by_node)
    print_nodes(context, rows);
  else if (options.why)
    print_why(context, results, selection);
  else if (!options.best_by.empty())
    print_best_points(context, best_points_of(compared_points(selection, figures), options.best_by, labels), options.profile);
  else if (by_run)
    context.out.table(without_empty_columns(measurement_table(selection.runs, labels)));
  else
    context.out.table(without_empty_columns(scaling_table(points, labels)));
  const auto record = by_run ? std::nullopt : record_of(results.home(), *selection.study);
  if (record && !record->tune.metric.empty() && !options.why && options.best_by.empty())
    context.out.table(tuning_table(tuned_points_of(record, rows), record->labels, record->tune));
  const auto doubts = store::doubts_of(results.database(), selection.study ? selection.study->id : "", keys_of(selection.runs));
  print_doubts(context, doubts);
  context.out.field("states", "in all", {state_counts(selection.runs), summary(selection.runs), Style::plain});
  print_common_causes(context, selection.runs);
  if (!by_run && !by_node) {
    print_sensitivities(context,
                        store::sensitivities_of(points, store::varied_of_runs(figures, selection.study->kind),
                                                store::varied_without_result(figures)),
                        labels);
    const auto facts = deciding_facts(doubts);
    const auto compared = compared_points(selection, std::move(figures));
    auto verdict = verdict_of(selection.study->kind, compared, points, facts, record ? record->tune.metric : "");
    let_race_decide(verdict, record, rows, labels, facts);
    print_verdict(context, verdict);
    print_answer(context, answer_of(results.database(), record, compared, rows));
  }
  const bool has_notes = !options.why && options.best_by.empty() && !context.json;
  if (const auto notes = notes_on(points); !notes.empty() && has_notes && !by_node) context.messages.info("{}", notes);
  return ExitCode::ok;
}

} // namespace

void add_results(Commands& commands)
{
  auto options = std::make_shared<ResultsOptions>();
  auto& verb = commands.add(
      {"results", understand_verbs, "Print throughput, speed-up, efficiency, communication share and accuracy of a study.",
       "Columns:\n"
       "  samples/s      of all ranks, without the warm-up; geometric mean over the repeats\n"
       "  speed-up       throughput divided by that at the smallest size of the same label (the baseline)\n"
       "  efficiency     throughput per worker divided by that of the baseline; its 95 % interval needs 3 runs of both\n"
       "  comm.          share of a step in which a rank waits on communication and does nothing else\n"
       "  to target      time until the target accuracy; (2/3): 2 of 3 runs reached it, a miss counts as infinite\n"
       "Causes of --why, in points of efficiency:\n"
       "  batch          smaller batches take more time per sample; not divided from contention: computation\n"
       "  contention     computation takes longer than on one rank alone: shared caches, memory, cores\n"
       "  balance        some ranks always have more work or slower cores\n"
       "  jitter         in each step another rank is late\n"
       "  input          waiting for data\n"
       "  exposed comm.  waiting for messages, and all other time without work\n"
       "  queueing       waiting at busy parameter servers\n"
       "Below the table: what may have distorted the figures, and the verdict.\n"
       "\n"
       "Examples:\n"
       "  dtctl results quickstart --why\n"
       "  dtctl results last --best-by time-to-target"},
      [options](Context& context) { return results(context, *options); });
  add_selector(verb, options->selector);
  verb.add_flag("--predictions", options->predictions, "print the stored predictions of dtctl predict and their errors");
  verb.add_flag("--runs", options->runs, "print one row per run, not one per point");
  verb.add_option("--best-by", options->best_by, "mark the best points by this metric (as compare --metric) and by node-hours")
      ->type_name("METRIC")
      ->one_of(store::metric_names());
  verb.add_option("--profile", options->profile, "machine profile that prices the node-hours of --best-by; default: `default`")
      ->type_name("NAME");
  verb.add_flag("--why", options->why, "print where the efficiency went, cause by cause");
}

} // namespace dt::cli
