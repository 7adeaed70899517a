// dtctl results: throughput, scaling, communication and accuracy of a study.
#include "cli/output/answers/pareto_output.hpp"
#include "cli/output/answers/prediction_tables.hpp"
#include "cli/output/answers/verdict_output.hpp"
#include "cli/output/answers/why_output.hpp"
#include "cli/output/run_tables.hpp"
#include "cli/output/table_column.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/text.hpp"
#include "store/query/doubts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
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

bool has_interval(const store::ScalingRow& row)
{
  return std::isfinite(row.efficiency_low) && std::isfinite(row.efficiency_high);
}

// Returns "91.5% [90.2, 92.4]". Without an interval: "91.5% [-]" if other rows of the table have one, else "91.5%".
Cell efficiency_cell(const store::ScalingRow& row, bool others_have_intervals)
{
  auto cell = percent_cell(row.efficiency);
  if (has_interval(row))
    cell.text += fmt::format(" [{:.1f}, {:.1f}]", row.efficiency_low * 100, row.efficiency_high * 100);
  else if (others_have_intervals && std::isfinite(row.efficiency))
    cell.text += " [-]";
  return cell;
}

// Returns "1.9 s", "1.9 s (2/3)" if one of three runs missed the target, or "- (1/3)" if most did.
Cell target_cell(const store::ScalingRow& row)
{
  auto cell = seconds_cell(row.time_to_accuracy_s);
  if (row.reached == row.target_runs) return cell;
  cell.text += fmt::format(" ({}/{})", row.reached, row.target_runs);
  cell.style = Style::warning;
  return cell;
}

// Returns true when some ranks are parameter servers, which do not train.
bool has_servers(const std::vector<store::ScalingRow>& rows)
{
  return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.workers != row.ranks; });
}

Cell runs_cell(const store::ScalingRow& row)
{
  const auto text = row.succeeded == row.runs ? std::to_string(row.runs) : fmt::format("{}/{}", row.succeeded, row.runs);
  return {row.succeeded, text, row.succeeded == row.runs ? Style::plain : Style::warning};
}

Cell factor_cell(double value)
{
  auto cell = real_cell(value, 3);
  if (std::isfinite(value)) cell.text = fmt::format("{:.2f}x", value);
  return cell;
}

Cell baseline_cell(const store::ScalingRow& row)
{
  return row.baseline_size == 0 ? Cell{nullptr, "-", Style::dim} : count_cell(row.baseline_size);
}

using ScalingColumn = TableColumn<store::ScalingRow>;

// A column with a count, and one with another number.
template<auto member> ScalingColumn count_column(std::string name, std::string title = "", int drop = 0)
{
  return {{std::move(name), std::move(title), Align::right, drop}, [](const auto& row) { return count_cell(row.*member); }};
}
template<auto member> ScalingColumn real_column(std::string name, std::string title, Cell (*cell)(double), int drop = 0)
{
  return {{std::move(name), std::move(title), Align::right, drop}, [cell](const auto& row) { return cell(row.*member); }};
}

Cell plain(double value) { return real_cell(value); }

std::vector<ScalingColumn> scaling_columns(bool has_servers, bool has_intervals)
{
  using Row = store::ScalingRow;
  return {
      {{"label", "point"}, [](const Row& row) { return text_cell(row.label); }},
      count_column<&Row::nodes>("nodes", "nodes", 4),
      count_column<&Row::ranks>("ranks", "ranks"),
      count_column<&Row::workers>("workers", has_servers ? "workers" : ""),
      count_column<&Row::size>("size"),
      {{"runs_succeeded", "runs", Align::right, 3}, runs_cell},
      count_column<&Row::runs>("runs"),
      real_column<&Row::throughput>("throughput", "samples/s", plain),
      real_column<&Row::throughput_min>("throughput_min", "", plain),
      real_column<&Row::throughput_max>("throughput_max", "", plain),
      real_column<&Row::throughput_geometric_mean>("throughput_geometric_mean", "", plain),
      real_column<&Row::speedup>("speedup", "speed-up", factor_cell),
      {{"efficiency", has_servers ? "efficiency/worker [95%]" : "efficiency [95%]", Align::right},
       [has_intervals](const Row& row) { return efficiency_cell(row, has_intervals); }},
      real_column<&Row::efficiency_low>("efficiency_low", "", percent_cell),
      real_column<&Row::efficiency_high>("efficiency_high", "", percent_cell),
      real_column<&Row::efficiency_per_process>("efficiency_per_process", has_servers ? "efficiency/process" : "", percent_cell,
                                                2),
      {{"baseline_size", ""}, baseline_cell},
      count_column<&Row::paired_blocks>("paired_blocks"),
      real_column<&Row::communication_share>("communication_share", "comm.", percent_cell, 1),
      real_column<&Row::accuracy>("accuracy", "accuracy", percent_cell),
      {{"time_to_accuracy_s", "to target", Align::right, 2}, target_cell},
      count_column<&Row::reached>("reached"),
      count_column<&Row::target_runs>("target_runs"),
  };
}

Table scaling_table(const std::vector<store::ScalingRow>& rows)
{
  const bool has_intervals = std::any_of(rows.begin(), rows.end(), has_interval);
  return table_of("scaling", scaling_columns(has_servers(rows), has_intervals), rows, std::identity(), "no results yet");
}

// Returns "-2.7 % from the first to the last of 3 controls (812 to 790 samples/s, spread 3.1 %); more than the noise of repeats,
// 0.8 %".
std::string describe(const store::Drift& drift)
{
  auto text =
      fmt::format("{:+.1f} % from the first to the last of {} controls ({} to {} samples/s, spread {:.1f} %)", drift.change * 100,
                  drift.controls, real_cell(drift.first).text, real_cell(drift.last).text, drift.spread * 100);
  if (!std::isfinite(drift.noise)) return text + "; without repeats, the noise is unknown";
  return text +
         fmt::format("; {} the noise of repeats, {:.1f} %", drift.beyond_noise ? "more than" : "within", drift.noise * 100);
}

void print_drift(Context& context, const store::Drift& drift)
{
  context.out.field("drift", "drift",
                    {{{"controls", drift.controls},
                      {"first", drift.first},
                      {"last", drift.last},
                      {"change", drift.change},
                      {"spread", drift.spread},
                      {"noise", real_cell(drift.noise).value},
                      {"beyond_noise", drift.beyond_noise}},
                     describe(drift),
                     drift.beyond_noise ? Style::warning : Style::plain});
}

void print_outliers(Context& context, const std::vector<store::Outlier>& outliers)
{
  Json list = Json::array();
  for (const auto& outlier : outliers) {
    const bool is_host = outlier.kind == store::Outlier::Kind::matrix_product;
    list.push_back({{"kind", is_host ? "matrix_product" : "allreduce"},
                    {"host", is_host ? Json(outlier.host) : Json(nullptr)},
                    {"runs", outlier.runs},
                    {"ranks", outlier.ranks},
                    {"slower_by", outlier.slower_by}});
    context.out.field("", is_host ? "slow node" : "slow network", text_cell(store::describe(outlier), Style::warning));
  }
  context.out.data("outliers", std::move(list));
}

Json json_of(const store::BusyRun& run)
{
  const auto reason = [](double value) { return value > 0 ? Json(value) : Json(nullptr); };
  return {{"run", run.run},
          {"others_share", reason(run.others_share)},
          {"steal_share", reason(run.steal_share)},
          {"load", reason(run.load)},
          {"probe_slower_by", reason(run.probe_slower_by)},
          {"step_spread_ratio", reason(run.step_spread_ratio)}};
}

void print_busy(Context& context, const store::Doubts& doubts)
{
  Json runs = Json::array();
  for (const auto& run : doubts.busy) runs.push_back(json_of(run));
  for (const auto& reason : store::describe(doubts.busy, doubts.measured_runs))
    context.out.field("", "machine busy", text_cell(reason, Style::warning));
  context.out.data("busy", {{"of_runs", doubts.measured_runs}, {"runs", std::move(runs)}});
}

void print_simulated(Context& context, const store::Doubts& doubts)
{
  std::size_t count = 0;
  std::vector<std::string> platforms;
  for (const auto& [platform, runs] : doubts.simulated_runs) {
    count += runs;
    platforms.push_back(platform);
  }
  context.out.field("simulated_runs", "simulated",
                    {count,
                     fmt::format("{} of {} runs were simulated on {}: their times are simulated seconds, which have no scatter",
                                 count, doubts.measured_runs, join(platforms, ", ")),
                     Style::warning});
}

// Prints warnings about conditions that may have distorted the results of the selected runs.
void print_doubts(Context& context, ResultsStore& results, const Selection& selection)
{
  const auto doubts = store::doubts_of(results.database(), selection.study ? selection.study->id : "", keys_of(selection.runs));
  if (doubts.drift) print_drift(context, *doubts.drift);
  print_outliers(context, doubts.outliers);
  print_busy(context, doubts);
  if (!doubts.simulated_runs.empty()) print_simulated(context, doubts);
  if (doubts.modelled_runs > 0)
    context.out.field(
        "modelled_runs", "modelled",
        {doubts.modelled_runs,
         fmt::format("{} of {} runs modelled their computation (train.modelled_rate): their throughput is not this machine's",
                     doubts.modelled_runs, doubts.measured_runs),
         Style::warning});
}

// How to read a table of points. Empty if there is only one run.
std::string notes_on(const std::vector<store::ScalingRow>& points)
{
  const bool has_repeats = std::any_of(points.begin(), points.end(), [](const auto& point) { return point.runs > 1; });
  std::vector<std::string> notes;
  if (has_repeats) notes.emplace_back("Medians over repeats.");
  if (points.size() > 1) notes.emplace_back("Efficiency is relative to the smallest size.");
  if (std::any_of(points.begin(), points.end(), [](const auto& point) { return point.paired_blocks > 0; }))
    notes.emplace_back("Its intervals compare the sizes in pairs within the repeats of the ladder.");
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
  const auto points =
      by_run ? std::vector<store::ScalingRow>() : store::scaling_of_study(results.database(), selection.study->id);
  if (options.why)
    print_why(context, results, selection);
  else if (!options.best_by.empty())
    print_best(context, results, selection, options.best_by);
  else if (by_run)
    context.out.table(without_empty_columns(measurement_table(selection.runs)));
  else
    context.out.table(without_empty_columns(scaling_table(points)));
  print_doubts(context, results, selection);
  context.out.field("states", "in all", {state_counts(selection.runs), summary(selection.runs), Style::plain});
  if (!by_run) print_verdict(context, results, selection, points);
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
       "Throughput is the median over repeats, over the measured steps. Efficiency is throughput per worker, as a fraction of\n"
       "that at the smallest size of the same label (the baseline). Parameter servers are not workers; with servers, the\n"
       "column \"efficiency/process\" counts all ranks. It is a ratio of\n"
       "geometric means over repeats. Speed-up is efficiency times the size. A baseline above the study's smallest size\n"
       "has none: \"-\". The interval is Welch's 95% t interval on logarithms; it needs 3 runs of both sizes. In a ladder the\n"
       "sizes are compared in pairs within their repeat, so that a drift of the machine does not widen the interval.\n"
       "The communication share is the part of a step in which a rank waits on communication and does nothing else.\n"
       "To target: the median time until the target accuracy was reached; a run that missed it counts as infinite.\n"
       "\"1.9 s (2/3)\": 2 of 3 runs reached it. \"- (1/3)\": most did not.\n"
       "Below the table: conditions that may have distorted the figures. \"machine busy\": other processes, other virtual\n"
       "machines, or slow or uneven work before and during the steps. \"slow node\": a node was slower than all others.\n"
       "\"slow network\": communication between nodes was slow. Runs that are not selected are only used for comparison.\n"
       "Last comes the verdict: which label is the best, or how efficiency falls, and how certain that is.\n"
       "With --failed, --where or a run's key there is one row per run.\n"
       "--best-by prints each point with a criterion and its node-hours, the best first. A point is in the Pareto set if no\n"
       "other point is at least as good in both and better in one.\n"
       "With --why there is a row per point with the points of efficiency that each cause costs (+: gains), relative to the\n"
       "smallest size of the same label, or to a machine without any waiting if there is one size. batch: smaller batches\n"
       "take more time per sample. contention: passes and updates take longer than on one rank alone (shared caches,\n"
       "memory, cores). balance: some ranks always have more work or slower cores. jitter: in each step another rank is\n"
       "late. input: waiting for data. exposed comm.: waiting for messages and all other time without work.\n"
       "queueing: waiting at busy parameter servers. The causes multiply exactly to the efficiency.\n\n"
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
