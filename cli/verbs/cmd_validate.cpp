// dtctl validate: reads a recipe like submit does and describes its runs.
#include "cli/checks/input_checks.hpp"
#include "cli/checks/metrics_preview.hpp"
#include "cli/planning/recipe_options.hpp"
#include "cli/verbs/verbs.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

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
  const bool finds_all = options.metrics.empty() || preview_metrics(context, plan.runs.front().program, options.metrics);
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
