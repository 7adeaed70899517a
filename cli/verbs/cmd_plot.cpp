// dtctl plot: figures of a study, for papers and for the terminal.
#include "cli/command/destination.hpp"
#include "cli/report/chart/charts.hpp"
#include "cli/report/figure/chart_values.hpp"
#include "cli/report/figure/figure.hpp"
#include "cli/report/figure/gnuplot_script.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/files/file.hpp"
#include "core/lookup.hpp"
#include "core/spec/point_label.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

struct PlotOptions {
  std::string study = "last", kind, file, format, x = "time", label;
  int columns = 1;
  bool grey = false, title = false;
};

std::vector<std::string> kind_names()
{
  std::vector<std::string> names;
  for (const auto& kind : chart_kinds()) names.emplace_back(kind.name);
  return names;
}

const ChartKind& kind_of(const std::string& name)
{
  if (name.empty()) throw Error(ErrorKind::usage, "plot needs --kind; allowed: " + join(kind_names(), ", "));
  return lookup(chart_kinds(), "kind of figure", name, ErrorKind::usage);
}

struct Extension {
  std::string_view name;
  FigureFormat format;
};
constexpr std::array extensions{Extension{".pdf", FigureFormat::pdf}, Extension{".svg", FigureFormat::svg},
                                Extension{".png", FigureFormat::png}, Extension{".tex", FigureFormat::tex}};

std::optional<FigureFormat> format_of(const fs::path& file)
{
  for (const auto& extension : extensions)
    if (file.extension() == extension.name) return extension.format;
  return std::nullopt;
}

// LaTeX reads the name of the picture from the file that includes it.
void require_name_for_tex(const fs::path& file)
{
  const auto stem = file.stem().string();
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
           c == '+';
  };
  if (std::all_of(stem.begin(), stem.end(), is_plain)) return;
  throw Error(ErrorKind::usage, "-o " + printable(file.string()) +
                                    ": LaTeX cannot include a file of this name. Use letters, digits, `-`, `_`, `+` and `.`.");
}

FigureFormat require_format(const fs::path& file)
{
  const auto format = format_of(file);
  if (!format)
    throw Error(ErrorKind::usage,
                "-o " + printable(file.string()) +
                    ": the name of a figure ends in .pdf, .svg, .png or .tex. For the script or the data of the "
                    "figure, add --format gnuplot or --format csv.");
  if (*format == FigureFormat::tex) require_name_for_tex(file);
  return *format;
}

// Leaves the points and runs of one label.
void keep_label(ChartSource& source, const std::string& wanted)
{
  const auto is_wanted = [&](const std::string& label) { return legend_name(source, label) == wanted || label == wanted; };
  std::vector<std::string> labels;
  for (const auto& point : source.scaling)
    if (labels.empty() || labels.back() != legend_name(source, point.label)) labels.push_back(legend_name(source, point.label));
  const auto is_of_label = [&](const auto& point) { return is_wanted(point.label); };
  if (std::none_of(source.scaling.begin(), source.scaling.end(), is_of_label))
    throw Error(ErrorKind::usage, fmt::format("--label: the study {} has no label `{}`{}", printable(source.study.name),
                                              printable(wanted), advice(wanted, labels)));
  std::erase_if(source.scaling, [&](const auto& point) { return !is_wanted(point.label); });
  std::erase_if(source.compared, [&](const auto& point) { return !is_wanted(point.candidate); });
  std::erase_if(source.runs, [&](const auto& run) {
    const auto tried = tried_setting(run.series);
    return !is_wanted(tried ? tried->series : run.series);
  });
  choose_labels(source);
}

// Keys that tuning charts have on their x axes.
std::vector<std::string> titles_of(const std::vector<Chart>& charts)
{
  std::vector<std::string> titles;
  for (const auto& chart : charts) titles.push_back(chart.x.title);
  return titles;
}

Charts make_charts(const ChartKind& kind, const PlotOptions& options, const ChartSource& source)
{
  if (options.x == "time") return kind.make(source);
  if (kind.name == "loss" && options.x == "samples") return loss_over_samples(source);
  if (kind.name == "accuracy" && options.x == "samples") return accuracy_over_samples(source);
  if (kind.name != "tuning")
    throw Error(ErrorKind::usage, fmt::format("--x samples is for the kinds loss and accuracy, not for {}", kind.name));
  auto charts = kind.make(source);
  const auto tuned = titles_of(charts.charts);
  if (std::erase_if(charts.charts, [&](const Chart& chart) { return chart.x.title != options.x; }) > 0 && charts.charts.empty())
    throw Error(ErrorKind::usage, fmt::format("--x: the study tunes {}, not {}", join(tuned, " and "), printable(options.x)));
  return charts;
}

std::vector<Chart> charts_of(Context& context, ResultsStore& results, const ChartKind& kind, const PlotOptions& options)
{
  Selector selector;
  selector.what = options.study;
  const auto selection = select(results, selector);
  if (!selection.study)
    throw Error(ErrorKind::usage, "plot needs a study; " + printable(options.study) + " is not one. See: dtctl status --all");
  const auto& study = *selection.study;
  auto source = chart_source(results.database(), results.home(), study, rows_of(selection.runs));
  if (!options.label.empty()) keep_label(source, options.label);
  auto charts = make_charts(kind, options, source);
  if (charts.charts.empty()) throw Error(ErrorKind::usage, charts.missing);
  context.out.data("study", study.id);
  context.out.data("kind", kind.name);
  return std::move(charts.charts);
}

// A file holds one figure.
void require_one(const std::vector<Chart>& charts)
{
  if (charts.size() == 1) return;
  if (charts.front().label.empty())
    throw Error(ErrorKind::usage,
                fmt::format("-o writes one figure, and there are {}, one for each tuned key. Choose with --x: {}", charts.size(),
                            join(titles_of(charts), ", ")));
  std::vector<std::string> labels;
  for (const auto& chart : charts) labels.push_back(printable(chart.label));
  throw Error(ErrorKind::usage, fmt::format("-o writes one figure, and there are {}, one for each label. Choose with --label: {}",
                                            charts.size(), join(labels, ", ")));
}

bool is_utf8_locale()
{
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const auto locale = lower_case(value);
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

FigureStyle style_of(const Context& context, const PlotOptions& options, FigureFormat format)
{
  FigureStyle style{.format = format, .columns = options.columns, .is_grey = options.grey, .has_title = options.title};
  constexpr std::size_t narrowest = 40, widest = 400, lowest = 20, highest = 40;
  const auto columns = context.terminal.columns == 0 ? 80 : context.terminal.columns;
  style.width = static_cast<int>(std::clamp(columns, narrowest, widest));
  style.height =
      static_cast<int>(std::clamp(context.terminal.rows - std::min<std::size_t>(context.terminal.rows, 6), lowest, highest));
  style.has_colour = context.terminal.colour && !options.grey;
  style.is_utf8 = is_utf8_locale();
  return style;
}

void warn(Context& context, const Figure& figure)
{
  if (!figure.warnings.empty()) context.messages.warn("gnuplot: {}", printable_lines(figure.warnings));
}

void print_files(Context& context, const std::vector<fs::path>& files)
{
  Json names = Json::array();
  for (const auto& file : files) {
    names.push_back(file.string());
    context.out.field("", "written to", text_cell(file.string()));
  }
  context.out.data("files", std::move(names));
}

// The caption also names the points that are not drawn; nothing else in the output does.
void print_caption(Context& context, const Chart& chart)
{
  context.out.field("caption", "how to read it", text_cell(chart.caption));
}

void draw(Context& context, const std::vector<Chart>& charts, const PlotOptions& options)
{
  const auto style = style_of(context, options, FigureFormat::terminal);
  for (const auto& chart : charts) {
    const auto figure = draw_figure(chart, style);
    warn(context, figure);
    context.out.heading(chart.title);
    context.out.drawing(figure.drawing);
    print_caption(context, chart);
  }
}

void write_script(Context& context, const std::vector<Chart>& charts, const PlotOptions& options)
{
  require_one(charts);
  const bool is_printed = options.file.empty() || is_standard_output(options.file);
  const fs::path asked = options.file;
  const auto figure = is_printed         ? fs::path(charts.front().id + ".pdf")
                      : format_of(asked) ? asked.filename()
                                         : asked.filename().replace_extension(".pdf");
  const auto script = gnuplot_script(charts.front(), style_of(context, options, require_format(figure)), figure.string());
  if (is_printed) return context.out.block("script", script);
  const auto file = fs::path(asked).replace_extension(".gp");
  write_file_atomic(file, script, Readers::everybody);
  print_files(context, {file});
}

void write_csv(Context& context, const std::vector<Chart>& charts, const PlotOptions& options)
{
  if (options.file.empty() || is_standard_output(options.file)) return context.out.block("csv", csv_of(charts));
  write_file_atomic(options.file, csv_of(charts), Readers::everybody);
  print_files(context, {options.file});
}

void write_picture(Context& context, const std::vector<Chart>& charts, const PlotOptions& options, FigureFormat format)
{
  require_one(charts);
  const Destination destination(context, options.file, "." + options.format);
  const auto figure = write_figure(charts.front(), style_of(context, options, format), destination.path());
  destination.done();
  warn(context, figure);
  print_files(context, figure.files);
  print_caption(context, charts.front());
}

ExitCode plot(Context& context, PlotOptions options)
{
  const bool is_text = options.format == "gnuplot" || options.format == "csv";
  if (options.format.empty() && is_standard_output(options.file)) options.format = "pdf";
  if (options.file.empty() && !options.format.empty() && !is_text) options.file = "-";
  const auto& kind = kind_of(options.kind);
  std::optional<FigureFormat> format;
  if (!is_text && !options.file.empty())
    format = require_format(options.format.empty() ? options.file : "figure." + options.format);
  ResultsStore results(context);
  const auto charts = charts_of(context, results, kind, options);
  if (options.format == "gnuplot")
    write_script(context, charts, options);
  else if (options.format == "csv")
    write_csv(context, charts, options);
  else if (format)
    write_picture(context, charts, options, *format);
  else if (context.json)
    context.out.data("charts", json_of(charts));
  else
    draw(context, charts, options);
  return ExitCode::ok;
}

std::string plot_details()
{
  std::string kinds;
  for (const auto& kind : chart_kinds()) kinds += fmt::format("  {:<11} {}\n", kind.name, kind.help);
  return "Kinds:\n" + kinds + "\nExample:\n  dtctl plot quickstart --kind speedup -o speedup.pdf";
}

} // namespace

void add_plot(Commands& commands)
{
  auto options = std::make_shared<PlotOptions>();
  auto& verb = commands.add(
      {"plot", show_verbs, "Draw a figure of a study for a paper (needs gnuplot-nox) or in the terminal.", plot_details()},
      [options](Context& context) { return plot(context, *options); });
  verb.add_option("STUDY", options->study, "last (default: the newest study), or the name or id of a study")->type_name("STUDY");
  verb.add_option("-k,--kind", options->kind, "what the figure shows")->type_name("FIGURE");
  verb.add_option("-o,--output", options->file, "a .pdf, .svg, .png or .tex file; -: standard output; default: the terminal")
      ->type_name("FILE");
  verb.add_option("--format", options->format, "a script with the data in it, or the data; of -o - any (default: pdf)")
      ->type_name("gnuplot|csv|pdf|svg|png")
      ->one_of({"gnuplot", "csv", "pdf", "svg", "png"});
  verb.add_option("--columns", options->columns, "columns of the page that the figure spans (default: 1)")
      ->type_name("1|2")
      ->check([](std::string& value) { return value == "1" || value == "2" ? "" : "a page has 1 or 2 columns"; });
  verb.add_option("--x", options->x, "x axis of loss and accuracy (default: time), or a key of tuning")
      ->type_name("time|samples|KEY");
  verb.add_option("--label", options->label, "only this label of the study")->type_name("LABEL");
  verb.add_flag("--grey", options->grey, "greys and patterns in place of colours");
  verb.add_flag("--title", options->title, "put the title above the figure; papers have it in the caption");
}

} // namespace dt::cli
