// dtctl models, dtctl strategies: the vocabulary of recipes.
#include "cli/verbs.hpp"
#include "core/names.hpp"

namespace dt::cli {
namespace {

Table names_table(const std::string& name, const std::string& title, std::span<const Name> names)
{
  Table table{name, {{"name", title}, {"help", "what it is"}}, {}, "none"};
  for (const auto& entry : names)
    table.rows.push_back({text_cell(std::string(entry.name), Style::strong), text_cell(std::string(entry.help))});
  return table;
}

ExitCode models(Context& context)
{
  context.out.table(names_table("models", "model", model_names()));
  context.out.table(names_table("data", "data set", data_names()));
  return ExitCode::ok;
}

ExitCode strategies(Context& context)
{
  context.out.table(names_table("strategies", "strategy", strategy_names()));
  context.out.table(names_table("allreduces", "allreduce", allreduce_names()));
  context.out.table(names_table("optimizers", "optimizer", optimizer_names()));
  context.out.table(names_table("schedules", "schedule", schedule_names()));
  return ExitCode::ok;
}

} // namespace

void add_models(Commands& commands)
{
  commands.add({"models", recipe_verbs, "Networks and data sets a recipe may name.", ""}, models);
}

void add_strategies(Commands& commands)
{
  commands.add(
      {"strategies", recipe_verbs, "Synchronisation strategies, allreduces, optimizers and schedules a recipe may name.", ""},
      strategies);
}

} // namespace dt::cli
