#include "cli/runs/compared_side.hpp"

#include "cli/output/output.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/json_schema.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "store/ingest/exported.hpp"
#include "store/query/compared_runs.hpp"
#include "store/query/separation_query.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dt::cli {
namespace {

[[noreturn]] void refuse(const std::string& what)
{
  throw Error(ErrorKind::usage, what + "; write one with: dtctl export STUDY --format json -o FILE.json");
}

std::string title_of(const Selection& selection, const Selector& selector)
{
  const auto runs = counted(selection.runs.size(), "run");
  if (selection.study && selection.whole_study)
    return fmt::format("{} ({}), {}", selection.study->name, short_key(selection.study->id), runs);
  return fmt::format("{}{}, {}", selector.what, selector.where.empty() ? "" : " where " + selector.where, runs);
}

// Annotations of a merge request name files of the repository, in whose folder CI runs dtctl.
std::string recipe_of(const std::optional<StudyRecord>& record)
{
  if (!record || record->recipe_path.empty()) return "";
  const auto seen = std::filesystem::path(record->recipe_path).lexically_relative(std::filesystem::current_path());
  return seen.empty() || *seen.begin() == ".." ? "" : seen.string();
}

} // namespace

void read_surroundings(store::Database& database, ComparedSide& side)
{
  std::vector<std::string> keys;
  for (const auto& run : side.runs) keys.push_back(run.key);
  side.measured = store::measured_of(database, keys);
  side.environments = store::python_environments(database, keys);
}

ComparedSide side_of(ResultsStore& results, const Selector& selector, const std::string& by)
{
  const auto selection = select(results, selector);
  if (selection.runs.empty()) throw Error(ErrorKind::usage, "no run of " + printable(selector.what) + " is selected");
  const auto record = selection.study ? record_of(results.home(), *selection.study) : std::nullopt;
  ComparedSide side{.title = title_of(selection, selector),
                    .runs = store::compared_runs(results.database(), rows_of(selection.runs), by),
                    .labels = own_labels(selection),
                    .recipe = recipe_of(record),
                    .study = selection.study ? selection.study->name : "",
                    .tuned_by = record ? record->tune.metric : ""};
  read_surroundings(results.database(), side);
  return side;
}

bool is_reference_file(const std::string& reference) { return reference.ends_with(".json"); }

ComparedSide read_reference(const std::filesystem::path& file, const std::string& where, const std::string& by)
{
  const auto shown = printable(file.string());
  const auto text = read_file_if_exists(file);
  if (!text) refuse(shown + ": there is no such file");
  const auto document = nlohmann::json::parse(*text, nullptr, false);
  const auto runs = document.is_object() ? document.find("runs") : document.end();
  if (document.is_discarded() || runs == document.end() || !runs->is_array())
    refuse(shown + " is not a file of dtctl export in JSON");
  if (const auto later = words_of_later_schema(document, json_schema_version); !later.empty()) refuse(shown + " " + later);
  if (runs->empty()) refuse(shown + " holds no run");
  auto database = store::database_of_export(document, shown);
  const auto rows = store::runs_where(database, where.empty() ? "repeat>=0" : where, all_runs);
  if (rows.empty()) throw Error(ErrorKind::usage, fmt::format("no run of {} meets the condition {}", shown, printable(where)));
  ComparedSide side{
      .title = fmt::format("{}, {}{}", file.string(), counted(rows.size(), "run"), where.empty() ? "" : " where " + where),
      .runs = store::compared_runs(database, rows, by)};
  read_surroundings(database, side);
  return side;
}

} // namespace dt::cli
