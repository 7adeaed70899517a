#include "cli/report/document/study_document.hpp"

#include "cli/answers/failures.hpp"
#include "cli/answers/scaling_table.hpp"
#include "cli/answers/tuned_study.hpp"
#include "cli/answers/why_tables.hpp"
#include "cli/output/number_text.hpp"
#include "cli/output/store_tables.hpp"
#include "cli/report/chart/chart.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "core/counted.hpp"
#include "core/text.hpp"
#include "store/query/attribution_query.hpp"
#include "store/query/pictures/provenance.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace dt::cli {
namespace {

void add_verdict(MarkupDocument& document, const ReportedStudy& study)
{
  const auto doubts = doubts_of(study);
  auto lines = verdict_lines(study, doubts);
  document.paragraph(lines.front());
  lines.erase(lines.begin());
  lines.push_back("in all: " + summary(study.runs) + ".");
  for (const auto& line : doubt_lines(doubts)) lines.push_back(line.label + ": " + line.text + ".");
  document.list(lines);
}

void add_reasons(MarkupDocument& document, const ReportedStudy& study)
{
  const auto& source = study.source;
  const auto labels = source.scaling.size() > most_table_rows ? source.labels : std::vector<std::string>();
  const auto points = store::attributions_of_study(source.database, source.study.id, labels);
  auto table = without_empty_columns(attribution_table(points, source.shown));
  if (table.rows.empty()) return;
  document.heading(2, "Where the efficiency went");
  document.paragraph("Points of efficiency that each cause takes.");
  document.table(table);
  for (const auto& note : missing_phases_notes(points)) document.paragraph(note);
}

// Adds the hardware and software of the runs, so that readers elsewhere can judge the figures.
void add_environment(MarkupDocument& document, const ReportedStudy& study)
{
  constexpr std::array<std::string_view, 10> wanted{"cpu_model", "node_gpus", "kernel",         "mpi_version", "dnnl_version",
                                                    "torch",     "cuda",      "engine_version", "cluster",     "partition"};
  Table table{"environment", {{"name", "fact"}, {"value", "value"}}, {}, ""};
  for (const auto& fact : store::provenance_of(study.source.database, study.source.study.id))
    if (std::ranges::find(wanted, fact.name) != wanted.end())
      table.rows.push_back({text_cell(fact.name), text_cell(without_json(fact.value))});
  if (table.rows.empty()) return;
  document.heading(2, "Hardware and software");
  document.table(table);
}

void add_efficiency(MarkupDocument& document, const ReportedStudy& study, const DocumentPicture& efficiency)
{
  const auto& source = study.source;
  document.heading(2, "Efficiency and speed-up");
  const auto points = shown_points(source);
  document.table(without_empty_columns(scaling_table(points, source.shown)));
  if (points.size() < source.scaling.size())
    document.paragraph(fmt::format("Shown: {} of {} points.", points.size(), source.scaling.size()));
  if (!efficiency.file.empty()) document.picture(efficiency.file, efficiency.caption);
  add_reasons(document, study);
}

void add_tuning(MarkupDocument& document, const ReportedStudy& study, const std::vector<DocumentPicture>& pictures)
{
  if (!study.record || study.record->tune.metric.empty()) return;
  const auto& tune = study.record->tune;
  document.heading(2, "Tuning");
  document.table(tuning_table(tuned_points_of(study.record, study.source.runs), study.record->labels, tune));
  for (const auto& picture : pictures) document.picture(picture.file, picture.caption);
}

// Returns whether there are figures beside the failures.
bool add_failures(MarkupDocument& document, const ReportedStudy& study)
{
  const auto failures = failures_of(study.source.home, study.runs);
  std::size_t failed = 0;
  for (const auto& failure : failures) failed += failure.runs;
  if (failures.empty()) return true;
  document.heading(2, "Failures");
  for (const auto& failure : failures) {
    document.paragraph(fmt::format("{} of {}: {}: {} {}", failure.runs, counted(study.runs.size(), "run"), name_of(failure.state),
                                   with_full_stop(failure.cause.empty() ? "no cause is known" : failure.cause),
                                   "dtctl explain " + short_key(failure.key)));
    if (!failure.last_lines.empty()) document.code(failure.last_lines + "\n");
  }
  return failed < study.runs.size();
}

} // namespace

void add_study(MarkupDocument& document, const ReportedStudy& study, const DocumentPictures& pictures)
{
  const auto& source = study.source;
  document.heading(1, source.study.name);
  document.paragraph(subtitle_of(source.study));
  add_verdict(document, study);
  const bool has_figures = add_failures(document, study);
  add_tuning(document, study, pictures.tuning);
  if (has_figures) add_efficiency(document, study, pictures.efficiency);
  add_environment(document, study);
  document.heading(2, "Commands");
  document.code(commands_of(study));
}

} // namespace dt::cli
