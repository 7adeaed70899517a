#include "cli/planning/recipe_options.hpp"

#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/files/paths.hpp"
#include "core/lookup.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of(const std::vector<ShippedRecipe>& recipes)
{
  std::vector<std::string> names;
  for (const auto& recipe : recipes) names.push_back(recipe.name);
  return names;
}

} // namespace

void add_recipe_options(Verb& verb, RecipeOptions& options)
{
  verb.add_option("RECIPE", options.recipe,
                  "path of a recipe, - for standard input, or name of a shipped recipe such as quickstart")
      ->required()
      ->type_name("RECIPE");
  verb.add_list("--set", options.set, "set one key of the recipe; may be repeated")->type_name("KEY=VALUE");
  verb.add_option("--platform", options.platform,
                  "simulate the runs on this machine: a shipped platform, a platform's file, or custom")
      ->type_name("PLATFORM");
  verb.add_option("--profile", options.profile, "machine profile to use instead of the recipe's")->type_name("NAME");
}

void add_over_option(Verb& verb, RecipeOptions& options)
{
  verb.add_list("--over", options.over, "add an axis to the sweep; may be repeated")->type_name("KEY=A,B,...");
}

std::vector<ShippedRecipe> shipped_recipes()
{
  const auto library = recipe_library();
  std::vector<ShippedRecipe> recipes;
  for (const auto& name : stems_in(library, ".yaml")) recipes.push_back({name, "examples", library / (name + ".yaml")});
  const auto papers = library / "papers";
  for (const auto& paper : names_in(papers))
    for (const auto& name : stems_in(papers / paper, ".yaml"))
      recipes.push_back({name, "papers/" + paper, papers / paper / (name + ".yaml")});
  std::sort(recipes.begin(), recipes.end(),
            [](const auto& a, const auto& b) { return std::tie(a.group, a.name) < std::tie(b.group, b.name); });
  return recipes;
}

fs::path find_recipe(const std::string& argument)
{
  const fs::path path(argument);
  const bool is_path = argument == "-" || path.has_parent_path() || path.extension() == ".yaml" || path.extension() == ".yml";
  if (is_path || fs::is_regular_file(path)) return path; // the recipe reader reports a missing file
  const auto shipped = shipped_recipes();
  const auto found = std::find_if(shipped.begin(), shipped.end(), [&](const auto& recipe) { return recipe.name == argument; });
  if (found != shipped.end()) return found->file;
  auto known = names_of(shipped);
  for (const auto& name : stems_in(fs::current_path(), ".yaml")) known.push_back(name + ".yaml");
  if (known.empty())
    throw Error(ErrorKind::usage,
                "there is no recipe `" + printable(argument) + "`, and none is installed; give the path of a file");
  throw Error(ErrorKind::usage, unknown_name("recipe", argument, known) + ", or the path of a file");
}

recipes::LoadOptions load_options(const RecipeOptions& options)
{
  return {options.set,      options.over, options.profile, user_config_path(), find_project_config(fs::current_path()).file,
          options.platform, options.tuned};
}

recipes::LoadOptions load_options(Context& context, const RecipeOptions& options)
{
  const auto project = find_project_config(fs::current_path());
  for (const auto& ignored : project.ignored) context.messages.warn("{}", ignored);
  if (!project.file.empty()) context.messages.info("using the machine profiles of {}", printable(project.file.string()));
  return {options.set, options.over, options.profile, user_config_path(), project.file, options.platform, options.tuned};
}

recipes::Plan load_plan(Context& context, const RecipeOptions& options)
{
  return recipes::load_plan(find_recipe(options.recipe), load_options(context, options));
}

void warn_of(const Context& context, const recipes::Plan& plan)
{
  for (const auto& warning : plan.warnings) context.messages.warn("{}", recipes::to_text(warning));
}

std::string describe(const recipes::Plan& plan)
{
  const auto count = plan.runs.size();
  const auto what = [&] {
    switch (plan.kind) {
    case recipes::PlanKind::single:
      return "a single run";
    case recipes::PlanKind::sweep:
      return "a sweep";
    case recipes::PlanKind::strong:
      return "a strong-scaling study";
    case recipes::PlanKind::weak:
      return "a weak-scaling study";
    case recipes::PlanKind::partition:
      return "a partition study";
    case recipes::PlanKind::scaling:
      return "a scaling study";
    }
    return "";
  }();
  return fmt::format("{} ({})", counted(count, "run"), what);
}

std::optional<CostModel> network_of(Context& context, const std::string& profile)
{
  const auto profiles = recipes::list_profiles(load_options(context, {}));
  const auto name = profile.empty() ? "default" : profile;
  const auto found = std::find_if(profiles.begin(), profiles.end(), [&](const auto& known) { return known.name == name; });
  if (found != profiles.end() && (found->network || profile.empty())) return found->network;
  if (profile.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& known : profiles) names.push_back(known.name);
  if (found == profiles.end()) throw Error(ErrorKind::usage, unknown_name("profile", profile, names));
  if (found->price) return std::nullopt; // it may be named for that
  throw Error(ErrorKind::usage, "the profile " + profile + " in " + found->file +
                                    " has no network. Add the block that dtbench comm prints: network: {latency: 50us, "
                                    "bandwidth: 1 Gbit/s}");
}

std::optional<recipes::Price> price_of(Context& context, const std::string& profile)
{
  for (const auto& known : recipes::list_profiles(load_options(context, {})))
    if (known.name == (profile.empty() ? "default" : profile)) return known.price;
  return std::nullopt;
}

} // namespace dt::cli
