// dtctl export: the selected runs for other programs.
#include "cli/command/destination.hpp"
#include "cli/export/exports.hpp"
#include "cli/export/flat_rows.hpp"
#include "cli/export/http.hpp"
#include "cli/output/store_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/file.hpp"

#include <filesystem>
#include <memory>

namespace dt::cli {
namespace {

struct ExportOptions {
  Selector selector;
  std::string format;
  std::string output;
  std::string url;
};

// The formats that are a text of the rows.
std::string document_of(ResultsStore& results, const std::string& format, const FlatRows& flat)
{
  const auto& rows = flat.table();
  if (format == "extra-p") return extra_p_of(results, flat);
  return format == "csv" ? csv_of(rows) : format == "jsonl" ? json_lines(rows) : json_document(rows);
}

void export_rows(Context& context, ResultsStore& results, const FlatRows& rows, const ExportOptions& options)
{
  const bool is_printed = options.output.empty() || is_standard_output(options.output);
  if (is_printed && context.json) return context.out.table(table_of("runs", rows.table()));
  write_text(context, options.output, "", document_of(results, options.format, rows));
  if (!is_printed) context.out.field("rows", "runs", count_cell(static_cast<std::int64_t>(rows.size())));
}

// Without --format the ending of the file's name decides.
std::string format_of(const std::string& file)
{
  const auto ending = std::filesystem::path(file).extension();
  return ending == ".json" ? "json" : ending == ".jsonl" ? "jsonl" : ending == ".prom" ? "prometheus" : "csv";
}

// Before anything is looked up.
void check(const ExportOptions& options)
{
  const auto require = [](bool fulfilled, const std::string& what) {
    if (!fulfilled) throw Error(ErrorKind::usage, what + "; see: dtctl export --help");
  };
  const auto& format = options.format;
  require(format != "tensorboard" || !options.output.empty(), "--format tensorboard needs the folder to write: --output FOLDER");
  require(format != "prometheus" || !options.output.empty(), "--format prometheus needs the file to write: --output FILE.prom");
  require(format != "tensorboard" || !is_standard_output(options.output),
          "--format tensorboard writes a folder, which standard output is not");
  require(format != "prometheus" || options.output.ends_with(".prom") || is_standard_output(options.output),
          "the name of the file must end in .prom, because the textfile collector of node_exporter reads no other files");
  require(format != "mlflow" || !options.url.empty(), "--format mlflow needs the URL of the tracking server: --to URL");
  require(format != "mlflow" || options.output.empty(), "--format mlflow writes no file, so it does not take --output");
  require(format == "mlflow" || options.url.empty(), "--to is only for --format mlflow");
  if (format == "mlflow") checked_url(options.url);
}

ExitCode export_runs(Context& context, ExportOptions options)
{
  if (options.format.empty()) options.format = format_of(options.output);
  check(options);
  ResultsStore results(context);
  const auto selection = select(results, options.selector);
  if (options.format == "tensorboard")
    export_tensorboard(context, results, selection, options.output);
  else if (options.format == "prometheus")
    export_prometheus(context, results, selection, options.output);
  else if (options.format == "mlflow")
    export_mlflow(context, results, selection, options.url);
  else
    export_rows(context, results, flat_rows(results, selection), options);
  return ExitCode::ok;
}

constexpr const char* export_details =
    "Formats:\n"
    "  csv          a line for each run, for spreadsheets and data frames; columns as in the view runs_flat\n"
    "  json         one document, also for dtctl compare --reference\n"
    "  jsonl        a JSON object a line for each run, for tools that read line by line\n"
    "  tensorboard  the curves of each run as an event file in a sub-folder of --output\n"
    "  prometheus   gauges of studies and points in a file FILE.prom, for the textfile collector of node_exporter\n"
    "  extra-p      times of a step and its phases over the number of ranks, for Extra-P (JSON)\n"
    "  mlflow       parameters, curves and results, sent to the server at --to by curl; credentials are taken from\n"
    "               MLFLOW_TRACKING_TOKEN, or from MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD\n"
    "\n"
    "Examples:\n"
    "  dtctl export all --output runs.csv\n"
    "  dtctl export last --format jsonl | grep '\"state\":\"failed\"'\n"
    "  dtctl export scaling --format tensorboard --output boards\n"
    "  dtctl export scaling --format mlflow --to http://127.0.0.1:5000";

} // namespace

void add_export(Commands& commands)
{
  auto options = std::make_shared<ExportOptions>();
  auto& verb = commands.add({"export", show_verbs, "Give the selected runs to other programs, in their formats.", export_details},
                            [options](Context& context) { return export_runs(context, *options); });
  add_selector(verb, options->selector);
  verb.add_option("--format", options->format, "default: by the ending of --output (.json, .jsonl, .prom), else csv")
      ->type_name("csv|json|jsonl|tensorboard|prometheus|extra-p|mlflow")
      ->one_of({"csv", "json", "jsonl", "tensorboard", "prometheus", "extra-p", "mlflow"});
  verb.add_option("-o,--output", options->output,
                  "file to write, for tensorboard the folder; default: standard output (csv, json, jsonl, extra-p)")
      ->type_name("FILE");
  verb.add_option("--to", options->url, "for mlflow: http or https URL of the tracking server")->type_name("URL");
}

} // namespace dt::cli
