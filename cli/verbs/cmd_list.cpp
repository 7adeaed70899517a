// dtctl list: lists the studies.
#include "cli/output/run_tables.hpp"
#include "cli/runs/results_store.hpp"
#include "cli/verbs/verbs.hpp"

#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

Cell progress_cell(const store::StudyRow& study)
{
  const auto style = study.failed > 0 ? Style::bad : study.succeeded == study.runs ? Style::good : Style::plain;
  auto text = fmt::format("{}/{}", study.succeeded, study.runs);
  for (const auto& [state, count] : study.ends) text += fmt::format(", {} {}", count, name_of(state));
  return {study.succeeded, text, style};
}

Json ends_by_state(const store::StudyRow& study)
{
  Json ends = Json::object();
  for (const auto& [state, count] : study.ends) ends[std::string(name_of(state))] = count;
  return ends;
}

// Updates only the listed studies, so that a long history costs nothing.
void refresh(ResultsStore& results, const std::vector<store::StudyRow>& studies)
{
  for (const auto& study : studies)
    if (study.succeeded + study.failed < study.runs)
      results.up_to_date([&] { return store::runs_of_study(results.database(), study.id); });
}

ExitCode list(Context& context, std::int64_t limit)
{
  ResultsStore results(context);
  refresh(results, store::list_studies(results.database(), limit));
  Table table{"studies",
              {{"id", "id"},
               {"name", "study"},
               {"kind", "kind", Align::left, 2},
               {"runs", ""},
               {"succeeded", "succeeded"},
               {"failed", ""},
               {"ends", ""},
               {"submitted_unix_s", "submitted", Align::left, 1},
               {"description", "description", Align::left, 3}},
              {},
              "nothing has been submitted yet; start with: dtctl sweep quickstart --wait"};
  for (const auto& study : store::list_studies(results.database(), limit))
    table.rows.push_back({key_cell(study.id), text_cell(study.name, Style::strong), text_cell(study.kind), count_cell(study.runs),
                          progress_cell(study), count_cell(study.failed), data_cell(ends_by_state(study)),
                          time_cell(study.submitted_unix_s), text_cell(study.description)});
  context.out.table(table);
  return ExitCode::ok;
}

} // namespace

void add_list(Commands& commands)
{
  auto limit = std::make_shared<std::int64_t>(50);
  auto& verb = commands.add({"list", result_verbs, "List studies, newest first.", ""},
                            [limit](Context& context) { return list(context, *limit); });
  verb.add_option("-n,--limit", *limit, "print at most N studies (50)")->type_name("N")->check(positive_number());
}

} // namespace dt::cli
