// dtctl results: throughput, scaling, communication and accuracy of a study.
#include "cli/run_tables.hpp"
#include "cli/selectors.hpp"
#include "cli/verbs.hpp"

#include <cmath>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct ResultsOptions {
  Selector selector;
  bool runs = false;
};

// "91.5% [90.2, 92.4]".
Cell efficiency_cell(const store::ScalingRow& row)
{
  auto cell = percent_cell(row.efficiency);
  if (std::isfinite(row.efficiency_low) && std::isfinite(row.efficiency_high))
    cell.text += fmt::format(" [{:.1f}, {:.1f}]", row.efficiency_low * 100, row.efficiency_high * 100);
  return cell;
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

Table scaling_table(const std::vector<store::ScalingRow>& rows)
{
  Table table{"scaling",
              {{"label", "point"},
               {"nodes", "nodes", Align::right, 4},
               {"ranks", "ranks", Align::right},
               {"runs_succeeded", "runs", Align::right, 3},
               {"runs", ""},
               {"throughput", "samples/s", Align::right},
               {"throughput_min", ""},
               {"throughput_max", ""},
               {"speedup", "speed-up", Align::right},
               {"efficiency", "efficiency [95%]", Align::right},
               {"efficiency_low", ""},
               {"efficiency_high", ""},
               {"communication_share", "comm.", Align::right, 1},
               {"accuracy", "accuracy", Align::right},
               {"time_to_accuracy_s", "to target", Align::right, 2}},
              {},
              "no results yet"};
  for (const auto& row : rows)
    table.rows.push_back(
        {text_cell(row.label), count_cell(row.nodes), count_cell(row.ranks), runs_cell(row), count_cell(row.runs),
         real_cell(row.throughput), real_cell(row.throughput_min), real_cell(row.throughput_max), factor_cell(row.speedup),
         efficiency_cell(row), percent_cell(row.efficiency_low), percent_cell(row.efficiency_high),
         percent_cell(row.communication_share), percent_cell(row.accuracy), seconds_cell(row.time_to_accuracy_s)});
  return table;
}

// "-2.7 % from the first to the last of 3 controls (812 to 790 samples/s, spread 3.1 %); more than the noise of repeats, 0.8 %".
std::string describe(const store::Drift& drift)
{
  auto text =
      fmt::format("{:+.1f} % from the first to the last of {} controls ({} to {} samples/s, spread {:.1f} %)", drift.change * 100,
                  drift.controls, real_cell(drift.first).text, real_cell(drift.last).text, drift.spread * 100);
  if (!std::isfinite(drift.noise)) return text + "; whether that is noise cannot be told without repeats";
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

// What may have spoilt the numbers above.
void print_doubts(Context& context, ResultsStore& results, const std::string& study_id)
{
  if (const auto drift = store::drift_of_study(results.database(), study_id)) print_drift(context, *drift);
  print_outliers(context, store::outliers_of_study(results.database(), study_id));
}

ExitCode results(Context& context, const ResultsOptions& options)
{
  ResultsStore results(context);
  const auto selection = select(results, options.selector);
  if (selection.study) {
    const auto& study = *selection.study;
    context.out.field("study", "study",
                      {study.id, fmt::format("{} ({}), {}", study.name, short_key(study.id), study.kind), Style::strong});
    context.out.field("kind", "", text_cell(study.kind));
  }
  const bool by_run = options.runs || !selection.whole_study;
  if (by_run)
    context.out.table(without_empty_columns(measurement_table(selection.runs)));
  else
    context.out.table(without_empty_columns(scaling_table(store::scaling_of_study(results.database(), selection.study->id))));
  if (selection.study) print_doubts(context, results, selection.study->id);
  context.out.field("states", "in all", {state_counts(selection.runs), summary(selection.runs), Style::plain});
  if (!by_run && !context.json)
    context.messages.info("medians over repeats; efficiency against the smallest size; a row a run: --runs");
  return ExitCode::ok;
}

} // namespace

void add_results(Commands& commands)
{
  auto options = std::make_shared<ResultsOptions>();
  auto& verb = commands.add(
      {"results", result_verbs, "Throughput, speed-up, efficiency, communication share and accuracy of a study.",
       "Throughput is the median over repeats, over the measured steps. Speed-up and efficiency are relative to the\n"
       "smallest size of the same point; the interval is a 95% bootstrap interval from 3 repeats on. The communication\n"
       "share is the part of a step in which a rank waits on communication and does nothing else.\n"
       "With --failed, --where or a run's key, a row a run.\n\n"
       "Example:\n  dtctl results quickstart"},
      [options](Context& context) { return results(context, *options); });
  add_selector(verb, options->selector);
  verb.add_flag("--runs", options->runs, "a row a run in place of a row a point");
}

} // namespace dt::cli
