// dtctl recipe schema|docs|list: documentation of recipes, and the shipped recipes.
#include "cli/command/destination.hpp"
#include "cli/planning/recipe_options.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/files/file.hpp"
#include "core/spec/spec_schema.hpp"

#include <memory>

namespace dt::cli {
namespace {

std::string default_text(const Key& key)
{
  if (key.required) return "required";
  return has_default(key) ? to_text(default_of(key)) : "";
}

Table keys_table()
{
  Table table{"keys",
              {{"path", "key"},
               {"type", "type"},
               {"unit", "unit", Align::left, 3},
               {"default", "default", Align::left, 2},
               {"help", "meaning", Align::left, 1}},
              {},
              "none"};
  for (const auto& key : spec_keys())
    table.rows.push_back({text_cell(std::string(key.path), Style::strong), text_cell(std::string(name_of(key.type))),
                          text_cell(std::string(key.unit)), text_cell(default_text(key)), text_cell(std::string(key.help))});
  return table;
}

// To a file goes the schema alone, with --json it is the JSON value's own members.
ExitCode schema(Context& context, const std::string& file)
{
  if (!file.empty() && !(context.json && is_standard_output(file))) {
    write_text(context, file, "schema", recipes::json_schema());
    return ExitCode::ok;
  }
  if (!context.json) {
    context.out.table(keys_table());
    return ExitCode::ok;
  }
  const auto schema = Json::parse(recipes::json_schema());
  for (const auto& [name, value] : schema.items()) context.out.data(name, value);
  return ExitCode::ok;
}

ExitCode docs(Context& context)
{
  context.out.block("markdown", recipes::reference_markdown());
  return ExitCode::ok;
}

ExitCode list(Context& context)
{
  Table table{"recipes",
              {{"group", "group"}, {"name", "recipe"}, {"description", "what it shows"}, {"path", "file", Align::left, 1}},
              {},
              "no recipes are installed"};
  for (const auto& recipe : shipped_recipes())
    table.rows.push_back({text_cell(recipe.group), text_cell(recipe.name, Style::strong),
                          text_cell(recipes::load_plan(recipe.file, {}).description), text_cell(recipe.file.string())});
  context.out.table(table);
  return ExitCode::ok;
}

ExitCode platforms(Context& context)
{
  Table table{"platforms",
              {{"name", "platform"}, {"description", "machine"}, {"path", "file", Align::left, 1}},
              {},
              "no platforms are installed"};
  for (const auto& platform : recipes::list_platforms())
    table.rows.push_back({text_cell(platform.name, Style::strong), text_cell(platform.description), text_cell(platform.file)});
  context.out.table(table);
  return ExitCode::ok;
}

void add_schema(Commands& commands, Verb& family)
{
  auto file = std::make_shared<std::string>();
  auto& verb =
      commands.add_under(family,
                         {"schema", family_verbs, "List all keys, or write them as a JSON Schema for editors.",
                          "A recipe names its schema in a first line that dtctl new writes, for the YAML language server "
                          "of editors:\n  # yaml-language-server: $schema=FILE\n\n"
                          "Example:\n  dtctl recipe schema -o recipe.schema.json"},
                         [file](Context& context) { return schema(context, *file); });
  verb.add_option("-o,--output", *file, "write the JSON Schema (draft 7) to this file")->type_name("FILE");
}

} // namespace

void add_recipe(Commands& commands)
{
  auto& family = commands.add_family({"recipe", write_verbs,
                                      "What a recipe may say: keys, models, strategies, platforms; the shipped recipes.",
                                      "Example:\n  dtctl recipe list"});
  commands.add_under(family,
                     {"list", family_verbs, "List the recipes shipped with dtctl; those in papers/ repeat a paper's study.",
                      "Example:\n  dtctl recipe list"},
                     list);
  add_schema(commands, family);
  commands.add_under(
      family, {"docs", family_verbs, "Print the reference of all keys in Markdown.", "Example:\n  dtctl recipe docs > keys.md"},
      docs);
  add_recipe_models(commands, family);
  add_recipe_strategies(commands, family);
  commands.add_under(family,
                     {"platforms", family_verbs, "List the machines on which runs can be simulated (--platform).",
                      "Example:\n  dtctl recipe platforms\n  dtctl sweep RECIPE --platform ethernet-10g --wait"},
                     platforms);
}

} // namespace dt::cli
