#include "cli/runs/study_table.hpp"

#include "cli/runs/run_tables.hpp"

#include <algorithm>
#include <limits>

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

std::vector<store::StudyRow> listed_studies(store::Database& database, const std::string& where, std::int64_t limit)
{
  if (where.empty()) return store::list_studies(database, limit);
  const auto ids = store::studies_where(database, where);
  auto studies = store::list_studies(database, std::numeric_limits<std::int64_t>::max());
  std::erase_if(studies, [&](const auto& study) { return !ids.contains(study.id); });
  if (studies.size() > static_cast<std::size_t>(limit)) studies.resize(static_cast<std::size_t>(limit));
  return studies;
}

Table study_table(const std::vector<store::StudyRow>& studies)
{
  const auto any_has = [&](std::string store::StudyRow::*text) {
    return std::ranges::any_of(studies, [&](const auto& study) { return !(study.*text).empty(); });
  };
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
               {"tags", any_has(&store::StudyRow::tags) ? "tags" : "", Align::left, 3},
               {"note", any_has(&store::StudyRow::note) ? "note" : "", Align::left, 4},
               {"description", "description", Align::left, 5}},
              {},
              "nothing has been submitted yet; start with: dtctl sweep quickstart --wait"};
  for (const auto& study : studies)
    table.rows.push_back({key_cell(study.id), text_cell(study.name, Style::strong), text_cell(study.kind), count_cell(study.runs),
                          progress_cell(study), count_cell(study.failed), count_cell(study.diverged),
                          data_cell(ends_by_state(study)), time_cell(study.submitted_unix_s), text_cell(study.tags),
                          short_note_cell(study.note), text_cell(study.description)});
  return table;
}

} // namespace dt::cli
