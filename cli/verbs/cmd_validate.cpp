// dtctl validate: reads a recipe like submit does and describes its runs.
#include "cli/checks/input_checks.hpp"
#include "cli/command/context.hpp"
#include "cli/planning/recipe_options.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"
#include "core/spec/run_spec.hpp"
#include "core/text.hpp"
#include "jobs/program/reports/measurement.hpp"
#include "jobs/program/reports/output_reader.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// dtctl validate --metrics: applies the expressions of program.metrics to a file with sample output, and shows what they find.

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

// Prints what a run that prints the same would record, as dtjob computes it.
void print_record(Context& context, const RunSpec& spec, const Preview& preview)
{
  jobs::ProgramMeasurement measurement(spec);
  measurement.add(preview.report);
  const auto result = measurement.result();
  const auto& step_s = result.ranks.front().step.p50_s;
  Json json = Json::object();
  std::vector<std::string> words;
  const auto tell = [&](const char* name, double value, const std::string& text) {
    json[name] = std::isfinite(value) ? Json(value) : Json();
    if (!std::isnan(value)) words.push_back(text);
  };
  const auto steps = result.steps == not_counted ? not_measured : static_cast<double>(result.steps);
  tell("steps", steps, counted(result.steps, "step"));
  const auto& rate = measurement.printed_rate();
  const auto how = std::isnan(rate.value) ? std::string() : fmt::format(" ({})", rate.words);
  tell("throughput", result.throughput, fmt::format("{:.5g} samples/s{}", result.throughput, how));
  json["throughput_is"] = std::isnan(rate.value) ? Json() : Json(rate.words);
  tell("step_p50_s", step_s, fmt::format("median step {:.4g} s", step_s));
  const auto loss = or_not_measured(result.final_loss), accuracy = or_not_measured(result.accuracy);
  tell("final_loss", loss, fmt::format("loss {}", format_shortest(loss)));
  tell("accuracy", accuracy, fmt::format("accuracy {}", format_shortest(accuracy)));
  context.out.field("record", "a run records", {json, words.empty() ? "no figure" : join(words, ", "), Style::plain});
  Json caveats = Json::array();
  for (const auto& [kind, sentence] : result.caveats) {
    context.messages.warn("{}", sentence);
    caveats.push_back({{"kind", kind}, {"sentence", sentence}});
  }
  context.out.data("caveats", std::move(caveats));
}

// Prints a table with a row for each expression. Returns whether all of them find figures and leave none out. Throws a usage
// error if there are no expressions or no such file.
bool preview_metrics(Context& context, const RunSpec& spec, const std::filesystem::path& output)
{
  const auto& program = spec.program;
  if (program.metrics.empty())
    throw Error(ErrorKind::usage, "--metrics: the recipe has no program.metrics, so there are no expressions to try");
  auto preview = read_sample(program, output);
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
  for (const auto& note : preview.reader.new_notes()) context.messages.info("{}", note);
  print_record(context, spec, preview);
  return all_good;
}

Json json_of(const CheckedData& data)
{
  Json json{{"name", data.name}, {"folder", data.folder.string()}, {"is_there", data.facts.has_value()}};
  if (!data.facts) return json;
  json["image"] = image_text(data.facts->shape);
  json["classes"] = data.facts->shape.classes;
  json["train_samples"] = data.facts->train_samples;
  json["test_samples"] = data.facts->test_samples;
  return json;
}

void print(Context& context, const std::vector<CheckedData>& data)
{
  Json all = Json::array();
  for (const auto& one : data) {
    all.push_back(json_of(one));
    if (one.facts)
      context.out.field(
          "", "data set",
          text_cell(fmt::format("{}: {} training and {} test images of {}, {} classes", one.name, one.facts->train_samples,
                                one.facts->test_samples, image_text(one.facts->shape), one.facts->shape.classes)));
    else
      context.messages.warn("data set {} was not checked: no files in {}; {}", one.name, one.folder.string(), one.remedy);
  }
  context.out.data("data", std::move(all));
}

struct ValidateOptions : RecipeOptions {
  std::string metrics; // a file
};

ExitCode validate(Context& context, const ValidateOptions& options)
{
  const auto plan = load_plan(context, options);
  warn_of(context, plan);
  const auto data = check_inputs(context, context.home(), plan);
  context.out.field("name", "recipe", text_cell(plan.name));
  context.out.field("path", "file", text_cell(plan.path));
  context.out.field("kind", "", text_cell(std::string(name_of(plan.kind))));
  context.out.field("runs", "asks for", {plan.runs.size(), describe(plan), Style::plain});
  print(context, data);
  const bool finds_all = options.metrics.empty() || preview_metrics(context, plan.runs.front(), options.metrics);
  if (!finds_all) {
    context.out.field(
        "valid", "verdict",
        {false, "the recipe is valid, but an expression of program.metrics finds no figure or leaves one out", Style::bad});
    return ExitCode::usage;
  }
  const auto missing = std::count_if(data.begin(), data.end(), [](const CheckedData& one) { return !one.facts; });
  if (missing == 0)
    context.out.field("valid", "verdict", {true, "valid", Style::good});
  else
    context.out.field("valid", "verdict",
                      {true,
                       fmt::format("the recipe is valid, but {} missing", missing == 1 ? "its data set is" : "data sets are"),
                       Style::warning});
  return ExitCode::ok;
}

} // namespace

void add_validate(Commands& commands)
{
  auto options = std::make_shared<ValidateOptions>();
  auto& verb = commands.add(
      {"validate", write_verbs, "Check a recipe and print all its mistakes; submit nothing.",
       "Mistakes are printed as file:line:column: message; exit 2. If the data set and the file of train.start_from exist, they\n"
       "are checked too: complete files, labels in range, shapes that fit the model.\n"
       "With --metrics the expressions of program.metrics are tried on a file with output of the program; exit 2 if one finds\n"
       "nothing or leaves a figure out.\n\n"
       "Examples:\n  dtctl validate my.yaml --set train.epochs=3\n  dtctl validate mine.yaml --metrics output.txt"},
      [options](Context& context) { return validate(context, *options); });
  add_recipe_options(verb, *options);
  add_over_option(verb, *options);
  verb.add_option("--metrics", options->metrics, "a file with output of the program: show what program.metrics finds in it")
      ->type_name("FILE");
}

} // namespace dt::cli
