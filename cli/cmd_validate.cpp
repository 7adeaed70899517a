// dtctl validate: reads a recipe as submit would and says what it asks for.
#include "cli/engine_model.hpp"
#include "cli/recipe_options.hpp"
#include "cli/verbs.hpp"

#include <memory>

namespace dt::cli {
namespace {

ExitCode validate(Context& context, const RecipeOptions& options)
{
  const auto plan = load_plan(options);
  check_models(context, plan);
  context.out.field("name", "recipe", text_cell(plan.name));
  context.out.field("path", "file", text_cell(plan.path));
  context.out.field("kind", "", text_cell(std::string(name_of(plan.kind))));
  context.out.field("runs", "asks for", {plan.runs.size(), describe(plan), Style::plain});
  context.out.field("valid", "verdict", {true, "valid", Style::good});
  return ExitCode::ok;
}

} // namespace

void add_validate(Commands& commands)
{
  auto options = std::make_shared<RecipeOptions>();
  auto& verb = commands.add({"validate", recipe_verbs, "Check a recipe: all its mistakes in one pass, nothing submitted.",
                             "Mistakes are printed as file:line:column: what is wrong; exit 2.\n\n"
                             "Example:\n  dtctl validate my.yaml --set train.epochs=3"},
                            [options](Context& context) { return validate(context, *options); });
  add_recipe_options(verb, *options);
  add_over_option(verb, *options);
}

} // namespace dt::cli
