// The options that all verbs with a recipe share.
#pragma once

#include "cli/command/context.hpp"
#include "cli/command/verb.hpp"
#include "recipes/recipe.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

struct RecipeOptions {
  std::string recipe;
  std::vector<std::string> set, over;
  std::string profile, platform;
  std::vector<recipes::TunedRun> tuned{}; // LoadOptions::tuned
};

void add_recipe_options(Verb& verb, RecipeOptions& options);
void add_over_option(Verb& verb, RecipeOptions& options);

// Path of a recipe file, "-" for standard input, or of the shipped recipe with that name. Throws a usage error with the nearest
// known name if there is none.
std::filesystem::path find_recipe(const std::string& argument);

// A recipe shipped with dtctl. Those that repeat a paper's study are in papers/<short name of the paper>.
struct ShippedRecipe {
  std::string name;
  std::string group; // "papers/swcaffe"; "examples" for a recipe in the library's folder itself
  std::filesystem::path file;
};
// Sorted by group and name.
std::vector<ShippedRecipe> shipped_recipes();

// The options for the recipe reader, with the paths of the configuration files. With a context, also prints which project
// configuration is used and warns about those that are ignored.
recipes::LoadOptions load_options(const RecipeOptions& options);
recipes::LoadOptions load_options(Context& context, const RecipeOptions& options);

recipes::Plan load_plan(Context& context, const RecipeOptions& options);

// The `network:` block of the machine profile with this name; if the name is empty, of the profile `default`, if that exists and
// has one. Throws a usage error if a profile that is named does not exist or has no network.
std::optional<CostModel> network_of(Context& context, const std::string& profile);
// The same of its `cost:` block; nothing if the profile has none or there is no such profile.
std::optional<recipes::Price> price_of(Context& context, const std::string& profile);

// Warns about settings that are allowed but probably unintended, each with its place in the recipe.
void warn_of(const Context& context, const recipes::Plan& plan);

// Returns "6 runs (a strong-scaling study)".
std::string describe(const recipes::Plan& plan);

} // namespace dt::cli
