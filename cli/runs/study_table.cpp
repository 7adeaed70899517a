#include "cli/runs/study_table.hpp"

#include "cli/runs/run_tables.hpp"

#include <fmt/format.h>

namespace dt::cli {
namespace {

Cell progress_cell(const store::StudyRow& study)
{
  const auto style = study.failed > 0 ? Style::bad : study.succeeded == study.runs ? Style::good : Style::plain;
  auto text = fmt::format("{}/{}", study.succeeded, study.runs);
  if (study.diverged > 0) text += fmt::format(" ({} diverged)", study.diverged);
  for (const auto& [state, count] : study.ends) text += fmt::format(", {} {}", count, name_of(state));
  return {study.succeeded, text, style};
}

Json ends_by_state(const store::StudyRow& study)
{
  Json ends = Json::object();
  for (const auto& [state, count] : study.ends) ends[std::string(name_of(state))] = count;
  return ends;
}

} // namespace

Table study_table(const std::vector<store::StudyRow>& studies)
{
  Table table{"studies",
              {{"id", "id"},
               {"name", "study"},
               {"kind", "kind", Align::left, 2},
               {"runs", ""},
               {"succeeded", "succeeded"},
               {"failed", ""},
               {"diverged", ""},
               {"ends", ""},
               {"submitted_unix_s", "submitted", Align::left, 1},
               {"description", "description", Align::left, 3}},
              {},
              "nothing has been submitted yet; start with: dtctl sweep quickstart --wait"};
  for (const auto& study : studies)
    table.rows.push_back({key_cell(study.id), text_cell(study.name, Style::strong), text_cell(study.kind), count_cell(study.runs),
                          progress_cell(study), count_cell(study.failed), count_cell(study.diverged),
                          data_cell(ends_by_state(study)), time_cell(study.submitted_unix_s), text_cell(study.description)});
  return table;
}

} // namespace dt::cli
