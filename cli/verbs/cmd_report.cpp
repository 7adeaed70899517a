// dtctl report: studies as one self-contained HTML file, or in short as Markdown or LaTeX.
#include "cli/command/destination.hpp"
#include "cli/output/store_tables.hpp"
#include "cli/report/chart/charts.hpp"
#include "cli/report/document/study_document.hpp"
#include "cli/report/figure/figure.hpp"
#include "cli/report/html/study_page.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/files/file.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

// More runs than this are in a CSV file beside the report. 1,000 rows are about 400 kB of HTML.
constexpr std::size_t most_run_rows = 1000;

struct ReportOptions {
  std::vector<std::string> studies;
  std::string file, format;
};

// A file name of the study's name: letters, digits, `-`, `_` and `.`, none of the latter at the beginning.
std::string file_stem(const store::StudyRow& study)
{
  std::string stem;
  for (const char c : study.name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    stem += is_plain || (c == '.' && !stem.empty()) ? c : '-';
  }
  return stem + "-" + short_key(study.id);
}

Selection study_to_report(ResultsStore& results, const std::string& what)
{
  Selector selector;
  selector.what = what;
  auto selection = select(results, selector);
  if (!selection.study || !selection.whole_study)
    throw Error(ErrorKind::usage, "a report is about a whole study; " + printable(what) + " is not one. See: dtctl status --all");
  return selection;
}

fs::path default_file(const std::vector<Selection>& studies)
{
  return studies.size() == 1 ? file_stem(*studies.front().study) + ".html" : "studies.html";
}

// Writes the rows of a view that belong to the study into a CSV file beside the report, and returns its name.
std::string write_beside(ResultsStore& results, const store::StudyRow& study, const fs::path& report, const std::string& name,
                         const std::string& rows)
{
  auto file = report;
  file.replace_filename(report.stem().string() + "-" + short_key(study.id) + "-" + name + ".csv");
  const store::QueryLimits limits{.time_s = 600, .rows = 10'000'000};
  const auto table = store::query(results.database(), "SELECT * FROM " + rows, limits);
  write_file_atomic(file, csv_of(table), Readers::everybody);
  return file.filename().string();
}

// Writes what is too much for the page beside it.
StudyPageOptions page_options(ResultsStore& results, const ChartSource& source, const fs::path& report)
{
  StudyPageOptions options{.most_run_rows = most_run_rows};
  if (is_standard_output(report.string())) return {}; // all of it is in the page
  const auto of_study = " WHERE study_key = '" + source.study.id + "'";
  if (source.runs.size() > most_run_rows)
    options.runs_file = write_beside(results, source.study, report, "runs", "runs_flat" + of_study + " ORDER BY position");
  if (source.scaling.size() > most_table_rows)
    options.points_file = write_beside(results, source.study, report, "points", "scaling" + of_study);
  return options;
}

// The study's record. If the file is there and cannot be read, warns the user that the report lacks the recipe.
std::optional<StudyRecord> record_or_trouble(Context& context, const Home& home, const store::StudyRow& study)
{
  auto record = record_of(home, study);
  const auto file = home.study(study.id) / "study.json";
  if (record || !is_there(file)) return record;
  context.unreadable.push_back(
      fmt::format("{} is damaged, so the report of {} lacks its recipe", file.string(), printable(study.name)));
  context.messages.warn("{}", context.unreadable.back());
  return record;
}

ReportedStudy reported(Context& context, ResultsStore& results, const Selection& selection, const fs::path& file)
{
  const auto& study = *selection.study;
  auto source = chart_source(results.database(), results.home(), study, rows_of(selection.runs));
  auto options = page_options(results, source, file);
  return {std::move(source), selection.runs, record_or_trouble(context, results.home(), study), std::move(options)};
}

void print_studies(Context& context, const std::vector<ReportedStudy>& studies, const fs::path& folder)
{
  Json ids = Json::array(), beside = Json::array();
  for (const auto& [source, runs, record, options] : studies) {
    context.out.field("", "study",
                      text_cell(fmt::format("{} ({})", source.study.name, short_key(source.study.id)), Style::strong));
    ids.push_back(source.study.id);
    for (const auto& [label, name] : {std::pair{"its runs", options.runs_file}, {"its points", options.points_file}}) {
      if (name.empty()) continue;
      beside.push_back((folder / name).string());
      context.out.field("", label, text_cell(beside.back().get<std::string>()));
    }
  }
  context.out.data("studies", std::move(ids));
  context.out.data("files_beside", std::move(beside));
}

// The ending of the file's name decides, if there is no --format.
std::string format_of(const ReportOptions& options)
{
  if (!options.format.empty()) return options.format;
  const auto ending = fs::path(options.file).extension();
  return ending == ".md" ? "markdown" : ending == ".tex" ? "latex" : "html";
}

// Draws a chart into a file beside the document. No file if it cannot be drawn.
DocumentPicture draw(Context& context, const ChartSource& source, const Chart& chart, const fs::path& document,
                     DocumentFormat format)
{
  const bool is_latex = format == DocumentFormat::latex;
  auto file = document;
  file.replace_filename(file_stem(source.study) + "-" + chart.id + (is_latex ? ".pdf" : ".svg"));
  try {
    const auto figure = write_figure(chart, {.format = is_latex ? FigureFormat::pdf : FigureFormat::svg}, file);
    if (!figure.warnings.empty()) context.messages.warn("gnuplot: {}", printable_lines(figure.warnings));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) throw;
    context.messages.warn("the document has no picture: {}", error.what());
    return {};
  }
  context.out.field("", "picture", text_cell(file.string()));
  return {file.filename().string(), chart.caption};
}

// No efficiency if the study has one size.
DocumentPictures draw_pictures(Context& context, const ChartSource& source, const fs::path& document, DocumentFormat format)
{
  DocumentPictures pictures;
  if (document.empty() || is_standard_output(document.string())) return pictures;
  for (const auto& chart : efficiency_chart(source).charts) pictures.efficiency = draw(context, source, chart, document, format);
  for (const auto& chart : tuning_charts(source).charts)
    if (auto picture = draw(context, source, chart, document, format); !picture.file.empty())
      pictures.tuning.push_back(std::move(picture));
  return pictures;
}

// Without -o the text goes to standard output, and there are no pictures.
ExitCode write_document(Context& context, const std::vector<ReportedStudy>& studies, const ReportOptions& options,
                        DocumentFormat format)
{
  MarkupDocument document(format);
  for (const auto& study : studies) add_study(document, study, draw_pictures(context, study.source, options.file, format));
  write_text(context, options.file, "document", document.text());
  return ExitCode::ok;
}

ExitCode report(Context& context, const ReportOptions& options)
{
  const auto format = format_of(options);
  ResultsStore results(context);
  results.take_in_predictions();
  std::vector<Selection> selections;
  for (const auto& study : options.studies) selections.push_back(study_to_report(results, study));
  const auto file = options.file.empty() ? default_file(selections) : fs::path(options.file);
  std::vector<ReportedStudy> studies;
  for (const auto& selection : selections) studies.push_back(reported(context, results, selection, file));
  if (format != "html")
    return write_document(context, studies, options, format == "latex" ? DocumentFormat::latex : DocumentFormat::markdown);
  const auto html = studies_report(studies).html(Delivery::file);
  write_text(context, file.string(), "document", html);
  if (is_standard_output(options.file)) return ExitCode::ok;
  print_studies(context, studies, file.parent_path());
  context.out.field("bytes", "size", {html.size(), format_bytes(static_cast<double>(html.size()))});
  return ExitCode::ok;
}

} // namespace

void add_report(Commands& commands)
{
  auto options = std::make_shared<ReportOptions>();
  options->studies = {"last"};
  auto& verb = commands.add(
      {"report", show_verbs, "Write studies as one HTML file with charts, tables and recipes, or in short as text.",
       "The file needs nothing else: it opens without internet, on any machine with a browser, and can be sent by mail. It "
       "holds\n"
       "the verdict, efficiency and speed-up, where the efficiency went, loss and accuracy, time against node-hours, the\n"
       "prediction, phases of the ranks, a timeline, the drift of the machine, the environment, all runs and the recipe.\n"
       "Values of variables whose names look like secrets are masked. CSV files beside it have the runs beyond\n"
       "1,000 and the points beyond 250.\n\n"
       "As Markdown or LaTeX (for \\input): verdict, scaling table, causes, hardware; with -o pictures of the efficiency and the "
       "tuning beside "
       "it.\n\n"
       "Examples:\n  dtctl report last -o report.html\n  dtctl report last --format markdown"},
      [options](Context& context) { return report(context, *options); });
  verb.add_option("STUDY", options->studies, "last (default: the newest study), or the name or id of a study; may be a list")
      ->type_name("STUDY");
  verb.add_option(
          "-o,--output", options->file,
          "file to write; default: NAME-ID.html in the current folder, of several studies studies.html; Markdown and LaTeX: "
          "standard output, as with -")
      ->type_name("FILE");
  verb.add_option("--format", options->format,
                  "html, markdown or latex; default: by the ending of the file, .md or .tex, else html")
      ->type_name("html|markdown|latex")
      ->one_of({"html", "markdown", "latex"});
}

} // namespace dt::cli
