// The text of a new recipe, with comments for somebody who writes the first one. A pure function.
#pragma once

#include "cli/recipe_text/recipe_choices.hpp"

#include <string>

namespace dt::cli {

// The choices must be complete, and check_choices must accept them.
std::string recipe_text(const RecipeChoices& choices);

// "submit" for a recipe of a single run, else "sweep".
std::string verb_for(const RecipeChoices& choices);

} // namespace dt::cli
