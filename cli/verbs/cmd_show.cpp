// dtctl show: all stored data about a run or a study.
#include "cli/output/store_tables.hpp"
#include "cli/runs/checkpoints.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/spec/secrets.hpp"
#include "core/units.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dt::cli {
namespace {

struct ShowOptions {
  Selector selector;
  bool recipe = false;
};

Table checkpoint_table(const std::filesystem::path& run_folder)
{
  Table table{
      "checkpoints",
      {{"attempt", "attempt", Align::right}, {"step", "step", Align::right}, {"bytes", "size", Align::right}, {"path", "file"}},
      {}};
  for (const auto& [attempt, step, path] : checkpoints_of(run_folder)) {
    std::error_code gone;
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, gone));
    if (!gone)
      table.rows.push_back(
          {count_cell(attempt), count_cell(step), {bytes, format_bytes(static_cast<double>(bytes))}, text_cell(path.string())});
  }
  return table;
}

// People read the repeat's number as in the run's name, from 1, and a map, such as the facts, as a row for each of its members.
// Programs get both as they are stored.
Table for_people(Table table)
{
  const bool is_upright = table.columns.size() == 2 && table.columns[1].name == "value";
  if (!is_upright) return table;
  std::vector<std::vector<Cell>> rows;
  for (auto& row : table.rows) {
    const auto name = row[0].text;
    if (name == "repeat" && row[1].value.is_number_integer()) row[1].text = std::to_string(row[1].value.get<int>() + 1);
    if (row[1].text.starts_with('{'))
      for (const auto& [member, value] : members_of(name, row[1].text)) rows.push_back({text_cell(member), text_cell(value)});
    else
      rows.push_back(std::move(row));
  }
  table.rows = std::move(rows);
  return table;
}

void print_note(Context& context, const std::string& tags, const std::string& note)
{
  context.out.field("tags", tags.empty() ? "" : "tags", text_cell(tags));
  context.out.field("note", note.empty() ? "" : "note", text_cell(note));
}

ExitCode show_run(Context& context, ResultsStore& results, const RunView& run)
{
  context.out.data("key", run.row.key);
  context.out.data("name", run.row.name);
  context.out.data("state", name_of(run.row.state));
  context.out.data("folder", results.home().run(run.row.key).string());
  print_note(context, run.row.tags, run.row.note);
  for (const auto& section : store::describe_run(results.database(), run.row.key)) {
    context.out.heading(section.title);
    auto table = table_of(member_name(section.title), section.table);
    context.out.table(without_empty_columns(context.json ? std::move(table) : for_people(std::move(table))));
  }
  const auto checkpoints = checkpoint_table(results.home().run(run.row.key));
  if (checkpoints.rows.empty()) return ExitCode::ok;
  context.out.heading("Checkpoints");
  context.out.table(checkpoints);
  return ExitCode::ok;
}

ExitCode show_study(Context& context, ResultsStore& results, const Selection& selection, bool with_recipe)
{
  const auto& study = *selection.study;
  context.out.field("study", "study", {study.id, study.name, Style::strong});
  context.out.field("id", "id", text_cell(study.id));
  context.out.field("description", "description", text_cell(study.description));
  print_note(context, study.tags, study.note);
  context.out.field("kind", "kind", text_cell(study.kind));
  context.out.field("created_unix_s", "first submitted", time_cell(study.created_unix_s));
  context.out.field("submitted_unix_s", "last submitted", time_cell(study.submitted_unix_s));
  const auto record = record_of(results.home(), study);
  if (record) context.out.field("recipe_path", "recipe", text_cell(record->recipe_path));
  context.out.field("states", "runs", {state_counts(selection.runs), summary(selection.runs), Style::plain});
  context.out.table(without_empty_columns(measurement_table(selection.runs, labels_of(selection, Controls::shown))));
  if (!record || !(with_recipe || context.json)) return ExitCode::ok;
  context.out.heading("The recipe's file, without settings by --set and --over");
  context.out.block("recipe_text", without_secrets(std::string_view(record->recipe_text)));
  return ExitCode::ok;
}

ExitCode show(Context& context, const ShowOptions& options)
{
  ResultsStore results(context);
  const auto selection = select(results, options.selector);
  if (selection.whole_study) return show_study(context, results, selection, options.recipe);
  return show_run(context, results, select_one(results, options.selector));
}

} // namespace

void add_show(Commands& commands)
{
  auto options = std::make_shared<ShowOptions>();
  auto& verb = commands.add(
      {"show", show_verbs, "Print everything recorded about a run or a study.",
       "Of a run: parameters, attempts, environment, result, phases per rank. Of a study: its runs and, with --recipe, the\n"
       "text of its recipe. Values of variables that look like secrets are shown as ***; the run's spec.json contains them.\n\n"
       "Example:\n  dtctl show 3f2a"},
      [options](Context& context) { return show(context, *options); });
  add_selector(verb, options->selector);
  verb.add_flag("--recipe", options->recipe, "of a study: also print the text of its recipe");
}

} // namespace dt::cli
