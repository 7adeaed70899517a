// dtctl export: all columns of the selected runs, for other programs.
#include "cli/output/store_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/file.hpp"

#include <algorithm>
#include <memory>

namespace dt::cli {
namespace {

constexpr std::size_t keys_a_query = 400;

struct ExportOptions {
  Selector selector;
  std::string format = "csv";
  std::string file;
};

std::string quoted_list(const std::vector<std::string>& keys, std::size_t begin, std::size_t end)
{
  std::string list;
  for (auto i = begin; i < end; ++i) list += (i == begin ? "'" : ",'") + keys[i] + "'"; // hexadecimal digits need no escaping
  return list;
}

// All columns of runs_flat, one row per run: as part of the selected study, else of the run's newest study.
store::Table flat_rows(ResultsStore& results, const Selection& selection)
{
  const auto keys = keys_of(selection.runs);
  const auto which = selection.study ? "study_key = '" + selection.study->id + "'" : std::string("newest");
  const store::QueryLimits limits{.time_s = 600, .rows = 10'000'000};
  auto table = store::query(results.database(), "SELECT * FROM runs_flat LIMIT 0", limits);
  for (std::size_t begin = 0; begin < keys.size(); begin += keys_a_query) {
    const auto list = quoted_list(keys, begin, std::min(keys.size(), begin + keys_a_query));
    auto part = store::query(results.database(),
                             "SELECT * FROM runs_flat WHERE " + which + " AND key IN (" + list + ") ORDER BY position", limits);
    std::move(part.rows.begin(), part.rows.end(), std::back_inserter(table.rows));
  }
  return table;
}

std::string json_document(const Table& table)
{
  const Json value{{"schema", json_schema_version}, {"verb", "export"}, {"exit_code", 0}, {table.name, to_json(table)}};
  return value.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

ExitCode export_runs(Context& context, const ExportOptions& options)
{
  ResultsStore results(context);
  const auto rows = flat_rows(results, select(results, options.selector));
  const auto table = table_of("runs", rows);
  const bool as_json = options.format == "json";
  if (!options.file.empty()) {
    write_file_atomic(options.file, as_json ? json_document(table) : csv_of(rows), Readers::everybody);
    context.out.field("file", "written to", text_cell(options.file));
    context.out.field("rows", "runs", count_cell(static_cast<std::int64_t>(rows.rows.size())));
  } else if (context.json) {
    context.out.table(table);
  } else {
    context.out.block("", as_json ? json_document(table) : csv_of(rows));
  }
  return ExitCode::ok;
}

} // namespace

void add_export(Commands& commands)
{
  auto options = std::make_shared<ExportOptions>();
  auto& verb = commands.add({"export", result_verbs, "All columns of the selected runs as CSV or JSON.",
                             "The columns are those of the view runs_flat: parameters, states, measurements, environment.\n\n"
                             "Example:\n  dtctl export all --format csv --output runs.csv"},
                            [options](Context& context) { return export_runs(context, *options); });
  add_selector(verb, options->selector);
  verb.add_option("--format", options->format, "csv or json")->type_name("csv|json")->one_of({"csv", "json"});
  verb.add_option("-o,--output", options->file, "file to write; default: standard output")->type_name("FILE");
}

} // namespace dt::cli
