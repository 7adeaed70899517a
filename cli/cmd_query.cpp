// dtctl query: SQL over the results, read-only.
#include "cli/results_store.hpp"
#include "cli/store_tables.hpp"
#include "cli/verbs.hpp"

#include <memory>

namespace dt::cli {
namespace {

struct QueryOptions {
  std::string sql;
  std::string format = "table";
  store::QueryLimits limits;
};

ExitCode query(Context& context, const QueryOptions& options)
{
  ResultsStore results(context);
  results.refresh_newest();
  const auto table = store::query(results.database(), options.sql, options.limits);
  if (options.format == "csv" && !context.json) {
    context.out.block("csv", csv_of(table));
  } else {
    context.out.data("columns", table.columns);
    context.out.table(table_of("rows", table));
  }
  context.out.data("truncated", table.truncated);
  if (table.truncated) context.messages.warn("only the first {} rows are shown; raise --limit", options.limits.rows);
  return ExitCode::ok;
}

} // namespace

void add_query(Commands& commands)
{
  auto options = std::make_shared<QueryOptions>();
  auto& verb = commands.add(
      {"query", result_verbs, "Ask the results database in SQL; it can only read.",
       "Views: scaling (a row a point of a study), runs_flat (a row a run), phases_flat (a row a run, rank and phase).\n\n"
       "Example:\n  dtctl query \"select strategy, ranks, throughput from runs_flat where state = 'succeeded'\""},
      [options](Context& context) { return query(context, *options); });
  verb.add_option("SQL", options->sql, "one SELECT statement")->required()->type_name("SQL");
  verb.add_option("--format", options->format, "table or csv")->type_name("table|csv")->check(CLI::IsMember({"table", "csv"}));
  verb.add_option("--limit", options->limits.rows, "at most so many rows (100000)")->type_name("N")->check(CLI::PositiveNumber);
  verb.add_option("--timeout", options->limits.time_s, "seconds it may take (30)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
}

} // namespace dt::cli
