// dtctl db migrate|rebuild|check: maintenance of the results database.
#include "cli/runs/results_store.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "store/query/columns.hpp"

namespace dt::cli {
namespace {

void print_database(Context& context, store::Database& database, const Home& home)
{
  context.out.field("database", "database", text_cell(home.database().string()));
  context.out.field(
      "version", "schema version",
      {database.version(), std::to_string(database.version()) + " of " + std::to_string(store::latest_version()), Style::plain});
  context.out.field("file_system", "file system", text_cell(database.file_system()));
  context.out.field("journal_mode", "journal", text_cell(database.journal_mode()));
}

ExitCode rebuild(Context& context, const LockedHome& home)
{
  const auto report =
      store::rebuild(home, [&](std::span<const std::string> keys) { return reconcile_verdicts(context, home, keys); });
  for (const auto& problem : report.problems) context.messages.warn("{}", problem);
  context.out.field("database", "database", text_cell(home.database().string()));
  context.out.field("runs", "runs taken in", count_cell(static_cast<std::int64_t>(report.runs_added + report.runs_updated)));
  context.out.field("step_rows", "step rows", count_cell(static_cast<std::int64_t>(report.step_rows)));
  context.out.field(
      "problems", "problems",
      {report.problems, std::to_string(report.problems.size()), report.problems.empty() ? Style::good : Style::warning});
  return ExitCode::ok;
}

// If there is no database but there are runs, the database is rebuilt from them.
ExitCode migrate(Context& context)
{
  const auto home = context.locked_home();
  if (!store::holds_anything(home.database()) && !names_in(home.runs()).empty()) return rebuild(context, home);
  store::Database database(home.database(), store::Access::read_write);
  print_database(context, database, home);
  return ExitCode::ok;
}

ExitCode check(Context& context)
{
  const auto home = context.home();
  if (!store::holds_anything(home.database()))
    throw Error(ErrorKind::environment,
                "there is no database at " + home.database().string() +
                    "; the first submission creates it. To create it from the run folders: dtctl db rebuild");
  store::Database database(home.database(), store::Access::read_only);
  auto problems = database.check();
  if (problems.empty()) { // the rows can be believed
    const auto found = store::differences_from(home, database);
    problems = found.problems;
    if (found.to_take_in > 0)
      context.messages.info("{} changed since the database was last brought up to date; dtctl status all does that",
                            counted(found.to_take_in, "run has", "runs have"));
  }
  print_database(context, database, home);
  for (const auto& problem : problems) context.messages.warn("{}", problem);
  context.out.field(
      "problems", "verdict",
      {problems, problems.empty() ? "sound" : std::to_string(problems.size()) + " problems; rebuild it with: dtctl db rebuild",
       problems.empty() ? Style::good : Style::bad});
  return problems.empty() ? ExitCode::ok : ExitCode::environment;
}

ExitCode columns(Context& context)
{
  Table table{"columns",
              {{"table", "table or view"},
               {"column", "column"},
               {"type", "type", Align::left, 3},
               {"unit", "unit", Align::left, 2},
               {"definition", "definition", Align::left, 1}},
              {},
              "none"};
  for (const auto& info : store::describe_columns())
    table.rows.push_back({text_cell(info.table), text_cell(info.column, Style::strong), text_cell(std::string(info.type)),
                          text_cell(std::string(info.unit)), text_cell(std::string(info.help))});
  context.out.table(table);
  return ExitCode::ok;
}

} // namespace

void add_db(Commands& commands)
{
  auto& family = commands.add_family({"db", keep_verbs, "The results database: migrate, rebuild, check, columns.",
                                      "Everything in the database comes from the run folders, so it can always be rebuilt.\n\n"
                                      "Example:\n  dtctl db check"});
  commands.add_under(
      family, {"migrate", family_verbs, "Bring the database to this version's schema.", "Example:\n  dtctl db migrate"}, migrate);
  commands.add_under(family,
                     {"rebuild", family_verbs, "Rebuild the database from the run folders.", "Example:\n  dtctl db rebuild"},
                     [](Context& context) { return rebuild(context, context.locked_home()); });
  commands.add_under(
      family,
      {"check", family_verbs, "Check the database's integrity, and compare it with the folders.", "Example:\n  dtctl db check"},
      check);
  commands.add_under(family,
                     {"columns", family_verbs, "List what the columns for queries mean, with their units.",
                      "Example:\n  dtctl db columns | grep throughput"},
                     columns);
}

} // namespace dt::cli
