#include "cli/report/html/study_page.hpp"

#include "cli/answers/common_causes.hpp"
#include "cli/answers/failures.hpp"
#include "cli/answers/pareto_output.hpp"
#include "cli/answers/prediction_tables.hpp"
#include "cli/answers/scaling_table.hpp"
#include "cli/answers/tuned_study.hpp"
#include "cli/answers/why_tables.hpp"
#include "cli/output/number_text.hpp"
#include "cli/output/store_tables.hpp"
#include "cli/report/chart/charts.hpp"
#include "cli/report/html/heat_map.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/spec/run_key.hpp"
#include "core/spec/secrets.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "store/query/attribution_query.hpp"
#include "store/query/pictures/provenance.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace dt::cli {
namespace {

using Content = ReportedStudy;

std::vector<std::string> links_of(const Content& content, const std::vector<RunView>& runs)
{
  std::vector<std::string> links;
  if (content.options.run_address != nullptr)
    for (const auto& run : runs) links.push_back(content.options.run_address(run.row.key));
  return links;
}

// Runs that have not ended, with their progress.
void add_progress(Page& page, const Content& content)
{
  std::vector<RunView> open;
  for (const auto& run : content.runs)
    if (!is_final(run.row.state) && open.size() < content.options.most_run_rows) open.push_back(run);
  if (open.empty()) return;
  page.heading("Runs that have not ended");
  page.table(without_empty_columns(status_table(open)), "progress", links_of(content, open), content.options.most_run_rows);
}

void add_doubts(Page& page, const std::vector<DoubtLine>& lines, const std::string& study)
{
  constexpr std::size_t most_lines = 8;
  for (std::size_t i = 0; i < std::min(lines.size(), most_lines); ++i)
    page.paragraph(lines[i].label + ": " + lines[i].text + ".", lines[i].is_warning ? "doubt" : "");
  if (lines.size() > most_lines)
    page.paragraph(fmt::format("And {} more of this kind: dtctl results {}", lines.size() - most_lines, study), "doubt");
}

void add_verdict(Page& page, const Content& content)
{
  page.section("verdict", "Verdict");
  const auto doubts = doubts_of(content);
  const auto lines = verdict_lines(content, doubts);
  for (std::size_t i = 0; i < lines.size(); ++i) page.paragraph(lines[i], i == 0 ? "verdict" : "");
  page.paragraph("In all: " + summary(content.runs) + ".");
  for (const auto& common : common_causes(content.runs))
    page.paragraph(with_full_stop(sentence_of(common, content.runs.size())), "doubt");
  add_doubts(page, doubt_lines(doubts), short_key(content.source.study.id));
  add_progress(page, content);
}

// Why runs have failed, as `dtctl explain` says it.
void add_failures(Page& page, const Content& content)
{
  const auto failures = failures_of(content.source.home, content.runs);
  if (failures.empty()) return;
  page.section("failures", "Failures");
  constexpr std::size_t most_causes = 8;
  for (std::size_t i = 0; i < std::min(failures.size(), most_causes); ++i) {
    const auto& failure = failures[i];
    page.heading(fmt::format("{} of {}: {}", failure.runs, counted(content.runs.size(), "run"), name_of(failure.state)));
    page.paragraph(with_full_stop(failure.cause.empty() ? "No cause is known" : failure.cause), "doubt");
    if (!failure.evidence.empty()) page.paragraph(with_full_stop("Evidence: " + failure.evidence), "dim");
    if (!failure.last_lines.empty()) page.preformatted(failure.last_lines);
    page.paragraph(fmt::format("The first of them is {}: dtctl explain {}, dtctl logs {}", failure.name, short_key(failure.key),
                               short_key(failure.key)),
                   "dim");
  }
  if (failures.size() > most_causes)
    page.paragraph(fmt::format("And {} more causes: dtctl explain {} --failed", failures.size() - most_causes,
                               short_key(content.source.study.id)),
                   "dim");
}

// Adds the table of tuned values and the charts of their search, if the study tunes anything.
void add_tuning(Page& page, const Content& content)
{
  if (!content.record || content.record->tune.metric.empty()) return;
  page.section("tuning", "Tuning");
  page.table(tuning_table(tuned_points_of(content.record, content.source.runs), content.record->labels, content.record->tune),
             "tuning");
  page.charts(tuning_charts(content.source));
}

void add_scaling(Page& page, const Content& content)
{
  page.section("scaling", "Efficiency and speed-up");
  page.charts_side_by_side({efficiency_chart(content.source), speedup_chart(content.source)});
  const auto points = shown_points(content.source);
  page.table(without_empty_columns(scaling_table(points, content.source.shown)), "points");
  if (points.size() == content.source.scaling.size()) return;
  const auto id = short_key(content.source.study.id);
  page.paragraph(fmt::format("Shown here and below: the points of the drawn labels, {} of {}. All points{}", points.size(),
                             content.source.scaling.size(),
                             content.options.points_file.empty()
                                 ? ": dtctl query \"SELECT * FROM scaling WHERE study_key LIKE '" + id + "%'\""
                                 : " are in " + content.options.points_file + "."));
}

// A sentence for each point; of a large study, for the largest size of each drawn label.
void add_reasons(Page& page, const Content& content, const std::vector<store::Attribution>& points)
{
  constexpr std::size_t most_sentences = 12;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool is_largest = i + 1 == points.size() || points[i + 1].label != points[i].label;
    if (points.size() <= most_sentences || (is_largest && is_drawn(content.source, points[i].label)))
      page.paragraph(sentence_of(points[i], content.source.shown));
  }
  for (const auto& note : missing_phases_notes(points)) page.paragraph(note, "doubt");
}

void add_attribution(Page& page, const Content& content)
{
  page.section("why", "Where the efficiency went");
  const auto& source = content.source;
  const auto labels = source.scaling.size() > most_table_rows ? source.labels : std::vector<std::string>();
  const auto points = store::attributions_of_study(source.database, source.study.id, labels);
  add_reasons(page, content, points);
  page.charts(waterfall_charts(source, points));
  if (points.empty()) return;
  page.heading("Points of efficiency that each cause takes");
  page.table(without_empty_columns(attribution_table(points, source.shown)), "attribution");
  if (auto table = without_empty_columns(communication_table(points, source.shown)); !table.rows.empty()) {
    page.heading("Communication of a step");
    page.table(table, "communication");
  }
}

void add_courses(Page& page, const Content& content)
{
  page.section("training", "Time to accuracy, loss and accuracy");
  page.charts(target_chart(content.source));
  page.charts_side_by_side({loss_over_time(content.source), loss_over_samples(content.source)});
  page.charts_side_by_side({accuracy_over_time(content.source), accuracy_over_samples(content.source)});
  if (const auto noise = noise_scale_chart(content.source); !noise.charts.empty()) page.charts(noise);
}

// The table of the Pareto set, by time to target if any run has one.
void add_best_table(Page& page, const ChartSource& source)
{
  const bool has_time = std::any_of(source.runs.begin(), source.runs.end(),
                                    [](const auto& run) { return std::isfinite(run.figure("time_to_accuracy_s")); });
  for (const char* metric : {"time-to-target", "throughput"}) {
    if (!has_time && metric == std::string_view("time-to-target")) continue;
    try {
      const auto best = best_points_of(source.compared, metric, source.shown, most_table_rows);
      page.table(without_empty_columns(best.table), "best");
      if (best.points > most_table_rows)
        page.paragraph(fmt::format("Shown: the first {} of {} rows.", most_table_rows, best.points), "dim");
      page.paragraph("* " + best.explanation + ".", "dim");
      return;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw; // no run has this figure
    }
  }
}

void add_pareto(Page& page, const Content& content)
{
  page.section("cost", "Cost");
  page.charts(pareto_chart(content.source));
  if (const auto energy = energy_chart(content.source); !energy.charts.empty()) page.charts(energy);
  add_best_table(page, content.source);
}

// For twice and four times the largest size of the study.
std::string predict_command(const ChartSource& source)
{
  std::int64_t nodes = 1, ranks = 1;
  for (const auto& point : source.scaling) {
    nodes = std::max(nodes, point.nodes);
    ranks = std::max(ranks, point.ranks);
  }
  const auto size = nodes > 1 ? nodes : ranks;
  return fmt::format("dtctl predict {} --{} {},{}", short_key(source.study.id), nodes > 1 ? "nodes" : "ranks", 2 * size,
                     4 * size);
}

void add_prediction(Page& page, const Content& content)
{
  const auto& source = content.source;
  page.section("prediction", "Prediction");
  const auto charts = prediction_charts(source);
  page.charts(charts);
  const auto scored = store::scored_predictions(source.database, source.study.name);
  if (scored.empty() && charts.charts.empty()) return;
  if (scored.empty())
    return page.paragraph("No prediction was stored for this study. Make one with: " + predict_command(source), "dim");
  page.heading("How earlier predictions scored");
  page.table(without_empty_columns(score_table(scored)), "predictions");
}

// The run of the most ranks whose phases are shown; of several, the one whose throughput is the median.
const store::RunRow* widest_run(const std::vector<store::RunRow>& runs)
{
  std::vector<const store::RunRow*> widest;
  for (const auto& run : runs) {
    if (run.state != RunState::succeeded || run.is_control) continue;
    if (!widest.empty() && run.ranks < widest.front()->ranks) continue;
    if (!widest.empty() && run.ranks > widest.front()->ranks) widest.clear();
    widest.push_back(&run);
  }
  if (widest.empty()) return nullptr;
  std::stable_sort(widest.begin(), widest.end(),
                   [](const auto* a, const auto* b) { return a->figure("throughput") < b->figure("throughput"); });
  return widest[widest.size() / 2];
}

void add_phases(Page& page, const Content& content)
{
  page.section("phases", "Phases and ranks");
  page.charts(phase_chart(content.source));
  const auto* run = widest_run(content.source.runs);
  const auto ranks =
      run == nullptr ? std::vector<store::RankPhases>() : store::phases_of_ranks(content.source.database, run->key);
  if (ranks.empty()) return;
  page.heading("Ranks of " + run->name);
  page.paragraph(
      "Warm: longer than the median of the workers; cold: shorter. A straggler is warm in forward or backward and cold in "
      "exposed communication, because the others wait for it.",
      "dim");
  if (ranks.size() > most_heat_rows)
    page.paragraph(fmt::format("Shown: the {} ranks with the most work, of {}.", most_heat_rows, ranks.size()), "dim");
  page.markup(heat_map_html(ranks));
}

void add_timeline(Page& page, const Content& content)
{
  page.section("timeline", "Timeline");
  page.charts(timeline_chart(content.source));
}

void add_drift(Page& page, const Content& content)
{
  page.section("drift", "Drift");
  page.charts(drift_chart(content.source));
}

Table provenance_table(const std::vector<store::Fact>& facts)
{
  Table table{"provenance", {{"name", "fact"}, {"value", "value"}, {"runs", "runs", Align::right}}, {}, "nothing was recorded"};
  for (const auto& fact : facts)
    table.rows.push_back({text_cell(fact.name), text_cell(without_json(fact.value)), count_cell(fact.runs)});
  return table;
}

void add_provenance(Page& page, const Content& content)
{
  page.section("environment", "Environment and provenance");
  page.paragraph("A fact with several rows differs between the runs.", "dim");
  page.table(provenance_table(store::provenance_of(content.source.database, content.source.study.id)), "provenance");
}

void add_runs(Page& page, const Content& content)
{
  page.section("runs", "Runs");
  if (content.runs.size() <= content.options.most_run_rows)
    return page.table(without_empty_columns(measurement_table(content.runs, content.source.shown)), "runs",
                      links_of(content, content.runs), content.options.most_run_rows);
  page.paragraph(fmt::format(
      "The study has {} runs, more than a page can show; the table of points above has their means.{}", content.runs.size(),
      content.options.runs_file.empty() ? " All runs: dtctl export " + short_key(content.source.study.id) + " -o runs.csv"
                                        : " All runs are in " + content.options.runs_file + "."));
}

// Of the first run, as dtctl resolved them.
void add_parameters(Page& page, const Content& content)
{
  if (content.runs.empty()) return;
  const auto& first = content.runs.front().row;
  for (const auto& section : store::describe_run(content.source.database, first.key)) {
    if (section.title != "parameters") continue;
    auto table = table_of("parameters", section.table);
    table.when_empty = "all parameters have their defaults";
    page.heading("Parameters of " + first.name + " that are not the default, as resolved");
    page.table(table, "parameters");
  }
}

void add_recipe(Page& page, const Content& content)
{
  page.section("recipe", "Recipe and commands");
  page.preformatted(commands_of(content));
  if (content.record) {
    page.heading("The recipe's file");
    page.preformatted(without_secrets(std::string_view(content.record->recipe_text)));
  } else {
    page.paragraph("The study's record, study.json, is missing or damaged, and with it the recipe.", "missing");
  }
  add_parameters(page, content);
}

void add_sections(Page& page, const Content& content)
{
  add_verdict(page, content);
  add_failures(page, content);
  add_tuning(page, content);
  const bool has_figures =
      std::ranges::any_of(content.runs, [](const auto& run) { return run.row.state == RunState::succeeded; });
  const bool has_failed = std::ranges::all_of(content.runs, [](const auto& run) { return is_final(run.row.state); });
  if (has_figures || !has_failed) // else every chart would say that there is nothing to draw
    for (const auto add :
         {add_scaling, add_attribution, add_courses, add_pareto, add_prediction, add_phases, add_timeline, add_drift})
      add(page, content);
  for (const auto add : {add_provenance, add_runs, add_recipe}) add(page, content);
}

} // namespace

Page study_page(const ReportedStudy& study)
{
  Page page(study.source.study.name, subtitle_of(study.source.study));
  add_sections(page, study);
  return page;
}

Page studies_report(const std::vector<ReportedStudy>& studies)
{
  if (studies.size() == 1) return study_page(studies.front());
  Page page(fmt::format("{} studies", studies.size()), "");
  for (const auto& study : studies) {
    page.begin_study(study.source.study.name, subtitle_of(study.source.study));
    add_sections(page, study);
  }
  return page;
}

} // namespace dt::cli
