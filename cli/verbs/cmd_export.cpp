// dtctl export: runs, timelines and weights for other programs.
#include "cli/command/destination.hpp"
#include "cli/export/exports.hpp"
#include "cli/export/flat_rows.hpp"
#include "cli/output/store_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/files/file.hpp"
#include "store/ingest/exported.hpp"

#include <filesystem>
#include <map>
#include <memory>

namespace dt::cli {
namespace {

struct ExportOptions {
  Selector selector;
  std::string format;
  std::string output;
  TimelineChoice timeline;
  WeightsChoice weights;
};

// The formats that are a text of the rows.
std::string document_of(ResultsStore& results, const std::string& format, const Selection& selection, const FlatRows& flat)
{
  const auto& rows = flat.table();
  if (format == "extra-p") return extra_p_of(results, flat);
  if (format == "json") return json_document(rows, store::rows_beside_runs(results.database(), keys_of(selection.runs)));
  return format == "csv" ? csv_of(rows) : json_lines(rows);
}

void export_rows(Context& context, ResultsStore& results, const Selection& selection, const ExportOptions& options)
{
  const auto rows = flat_rows(results, selection);
  const bool is_printed = options.output.empty() || is_standard_output(options.output);
  if (is_printed && context.json) return context.out.table(table_of("runs", rows.table()));
  write_text(context, options.output, "", document_of(results, options.format, selection, rows));
  if (!is_printed) context.out.field("rows", "runs", count_cell(static_cast<std::int64_t>(rows.size())));
}

// Without --format the ending of the file's name decides.
std::string format_of(const std::string& file)
{
  static const std::map<std::string, std::string> formats{
      {".json", "json"}, {".jsonl", "jsonl"}, {".prom", "prometheus"}, {".safetensors", "weights"}, {".npz", "weights"}};
  const auto found = formats.find(std::filesystem::path(file).extension());
  return found == formats.end() ? "csv" : found->second;
}

// Before anything is looked up.
void check(const ExportOptions& options)
{
  const auto require = [](bool fulfilled, const std::string& what) {
    if (!fulfilled) throw Error(ErrorKind::usage, what + "; see: dtctl export --help");
  };
  const auto& format = options.format;
  require(format != "prometheus" || !options.output.empty(), "--format prometheus needs the file to write: --output FILE.prom");
  require(format != "prometheus" || options.output.ends_with(".prom") || is_standard_output(options.output),
          "the name of the file must end in .prom, because the textfile collector of node_exporter reads no other files");
  const auto& [steps, attempt] = options.timeline;
  require(format == "trace" || (steps.empty() && attempt == 0), "--steps and --attempt are options of --format trace");
  const auto& [what, list, force] = options.weights;
  require(format == "weights" || (what == "weights" && !list && !force),
          "--what, --list and --force are options of --format weights");
}

ExitCode export_runs(Context& context, ExportOptions options)
{
  if (options.format.empty()) options.format = format_of(options.output);
  check(options);
  if (options.format == "trace") {
    export_timelines(context, options.selector, options.output, options.timeline);
    return ExitCode::ok;
  }
  if (options.format == "weights") {
    export_weights(context, options.selector, options.output, options.weights);
    return ExitCode::ok;
  }
  ResultsStore results(context);
  const auto selection = select(results, options.selector);
  if (options.format == "prometheus")
    export_prometheus(context, results, selection, options.output);
  else
    export_rows(context, results, selection, options);
  return ExitCode::ok;
}

constexpr const char* export_details =
    "Formats:\n"
    "  csv          a line for each run, for spreadsheets and data frames; columns as in the view runs_flat\n"
    "  json         one document, also for dtctl compare --reference\n"
    "  jsonl        a JSON object a line for each run, for tools that read line by line\n"
    "  prometheus   gauges of studies and points in a file FILE.prom, for the textfile collector of node_exporter\n"
    "  extra-p      times of a step and its phases over the number of ranks, for Extra-P (JSON)\n"
    "  trace        what every rank of a run did (train.trace: true), for ui.perfetto.dev or chrome://tracing\n"
    "  weights      the last checkpoint of a run, or FILE.safetensors in place of the SELECTOR, as .safetensors or\n"
    "               .npz: its centre, or the mean of its workers\n"
    "TensorBoard and MLflow: study.to_tensorboard() and study.to_mlflow() of the Python package dtctl.\n"
    "\n"
    "Examples:\n"
    "  dtctl export 3f2a --format trace --steps 100-110 -o trace.json\n"
    "  dtctl export 3f2a -o weights.safetensors";

} // namespace

void add_export(Commands& commands)
{
  auto options = std::make_shared<ExportOptions>();
  auto& verb = commands.add(
      {"export", show_verbs, "Give runs, timelines and weights to other programs, in their formats.", export_details},
      [options](Context& context) { return export_runs(context, *options); });
  add_selector(verb, options->selector);
  verb.add_option("--format", options->format, "default: by the ending of --output, else csv")
      ->type_name("csv|json|jsonl|prometheus|extra-p|trace|weights")
      ->one_of({"csv", "json", "jsonl", "prometheus", "extra-p", "trace", "weights"});
  verb.add_option("-o,--output", options->output, "file to write; default: standard output; -: standard output, weights too")
      ->type_name("FILE");
  verb.add_option("--steps", options->timeline.steps, "trace: only these steps, both included")->type_name("A-B");
  verb.add_option("--attempt", options->timeline.attempt, "trace: of this attempt; default: the latest one")
      ->type_name("N")
      ->check(positive_number());
  verb.add_option("--what", options->weights.what, "weights: these, or the buffers of the optimizer or the strategy")
      ->type_name("weights|optimizer|strategy")
      ->one_of({"weights", "optimizer", "strategy"});
  verb.add_flag("--list", options->weights.list, "weights: print names and shapes, and write nothing");
  verb.add_flag("--force", options->weights.force, "weights: replace an existing file");
}

} // namespace dt::cli
