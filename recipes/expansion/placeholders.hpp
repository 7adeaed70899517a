// Placeholders in program.command: `{optimizer.learning_rate}` stands for the value of that key, `{{` and `}}` for braces.
#pragma once

#include "core/spec/run_spec.hpp"

#include <string>
#include <string_view>

namespace dt::recipes {

// Returns the word with the run's values in place of the placeholders. Numbers have their shortest form, truth values are `true`
// and `false`. Throws a recipe error for an unknown key (with the nearest one), for a key without a single value (a list, a map),
// for a key that has no value in this run, for a variable of resources.env, and for a brace without its partner.
std::string with_values(std::string_view word, const RunSpec& run);

} // namespace dt::recipes
