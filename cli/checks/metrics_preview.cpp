#include "cli/checks/metrics_preview.hpp"

#include "core/counted.hpp"
#include "core/text.hpp"
#include "jobs/program/output_reader.hpp"

#include <cmath>
#include <fstream>

#include <fmt/format.h>

namespace dt::cli {
namespace {

struct Preview {
  jobs::OutputReader reader;
  jobs::RankReport report;
  std::int64_t lines = 0;
};

// Reads the file as dtjob reads what rank 0 prints; lines are numbered as an editor does.
Preview read_sample(const ProgramSpec& program, const std::filesystem::path& output)
{
  std::ifstream file(output, std::ios::binary);
  if (!file || std::filesystem::is_directory(output))
    throw Error(ErrorKind::usage,
                fmt::format("--metrics: {} cannot be read. Name a file with the output of the program: {} > FILE 2>&1",
                            printable(output.string()), shell_join(program.command)));
  Preview preview{jobs::OutputReader(program.metrics), {}, 0};
  jobs::LineCutter cutter(jobs::LineCutter::Ends::line_feed_or_carriage_return);
  for (std::string text; std::getline(file, text); ++preview.lines)
    for (const auto& line : cutter.take(text, true)) preview.reader.take(line, preview.report, {.number = preview.lines + 1});
  preview.reader.finish(preview.report);
  return preview;
}

bool is_good(const jobs::MetricFinding& finding) { return finding.found > 0 && finding.refused == 0; }

// Why the expression of this name must be changed, with the line of the sample output; empty if it is right.
std::string trouble(const std::string& name, const jobs::MetricFinding& finding, const std::filesystem::path& output)
{
  if (!finding.refusal.empty()) return fmt::format("{}:{}: {}", output.string(), finding.first_refused_line, finding.refusal);
  if (finding.found > 0) return {};
  if (!finding.no_number.empty()) return finding.no_number;
  return fmt::format("program.metrics.{} matches no line of {}", name, output.string());
}

Cell line_cell(std::int64_t line) { return data_cell(line > 0 ? Json(line) : Json()); }

std::vector<Cell> row_of(const std::string& name, const std::string& expression, const jobs::MetricFinding& finding,
                         const std::string& why)
{
  const auto value_cell = [&](double value) {
    if (finding.found > 0 && name != "result")
      return Cell{std::isfinite(value) ? Json(value) : Json(format_shortest(value)), format_shortest(value), Style::plain};
    return Cell{nullptr, "-", Style::dim};
  };
  const auto style = is_good(finding) ? Style::good : Style::bad;
  return {text_cell(name, style),      count_cell(finding.found),
          value_cell(finding.first),   line_cell(finding.first_line),
          value_cell(finding.last),    line_cell(finding.last_line),
          count_cell(finding.refused), line_cell(finding.first_refused_line),
          text_cell(expression),       data_cell(why.empty() ? Json() : Json(why))};
}

} // namespace

bool preview_metrics(Context& context, const ProgramSpec& program, const std::filesystem::path& output)
{
  if (program.metrics.empty())
    throw Error(ErrorKind::usage, "--metrics: the recipe has no program.metrics, so there are no expressions to try");
  const auto preview = read_sample(program, output);
  Table table{"metrics",
              {{"name", "figure"},
               {"lines", "lines", Align::right},
               {"first", "first", Align::right},
               {"first_line", ""},
               {"last", "last", Align::right},
               {"last_line", ""},
               {"refused", "left out", Align::right},
               {"refused_line", ""},
               {"expression", "expression", Align::left, 1},
               {"why", ""}},
              {},
              "none"};
  bool all_good = true;
  for (const auto& [name, expression] : program.metrics) {
    const auto& finding = preview.reader.finding(name);
    const auto why = trouble(name, finding, output);
    table.rows.push_back(row_of(name, expression, finding, why));
    all_good = all_good && is_good(finding);
    if (!why.empty()) context.messages.warn("{}", why);
  }
  context.out.table(table);
  const auto steps = preview.report.steps.size(), evaluations = preview.report.evaluations.size();
  context.out.field("sample", "output",
                    {Json{{"file", output.string()}, {"lines", preview.lines}, {"steps", steps}, {"evaluations", evaluations}},
                     fmt::format("{}: {}, {}, {}", output.string(), counted(preview.lines, "line"), counted(steps, "step"),
                                 counted(evaluations, "evaluation")),
                     Style::plain});
  return all_good;
}

} // namespace dt::cli
