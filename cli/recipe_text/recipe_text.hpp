// The text of a new recipe, with comments for somebody who writes the first one. A pure function.
#pragma once

#include "cli/recipe_text/wishes.hpp"

#include <string>

namespace dt::cli {

// The wishes must be complete, and check_wishes must accept them.
std::string recipe_text(const RecipeWishes& wishes);

// "submit" for a recipe of a single run, else "sweep".
std::string verb_for(const RecipeWishes& wishes);

} // namespace dt::cli
