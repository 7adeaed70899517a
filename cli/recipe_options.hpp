// The options of every verb that takes a recipe.
#pragma once

#include "cli/context.hpp"
#include "recipes/recipe.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace dt::cli {

struct RecipeOptions {
  std::string recipe;
  std::vector<std::string> set, over;
  std::string profile;
};

void add_recipe_options(CLI::App& verb, RecipeOptions& options);
void add_over_option(CLI::App& verb, RecipeOptions& options);

// A recipe's file, or the shipped recipe of that name. A usage error with the nearest known name when there is none.
std::filesystem::path find_recipe(const std::string& argument);

// Names of the recipes shipped with dtctl.
std::vector<std::string> shipped_recipes();

// Where profiles are read from, and the options as the recipe reader takes them. With a context it is said which project's file
// is read, and warned of those that are ignored.
recipes::LoadOptions load_options(const RecipeOptions& options);
recipes::LoadOptions load_options(Context& context, const RecipeOptions& options);

recipes::Plan load_plan(Context& context, const RecipeOptions& options);

// Says what in the recipe is not wrong and hardly meant, each with its place.
void warn_of(const Context& context, const recipes::Plan& plan);

// "6 runs (a strong-scaling study)".
std::string describe(const recipes::Plan& plan);

} // namespace dt::cli
