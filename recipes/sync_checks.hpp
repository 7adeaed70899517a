// What a recipe's strategy asks of its other keys. Pure.
#pragma once

#include "recipes/checks.hpp"

namespace dt::recipes {

// Adds what is wrong between `sync` and the rest of a run.
void find_sync_problems(const RunSpec& spec, std::vector<Problem>& problems);

// What a run does by the letter of its recipe, and hardly as it was meant.
std::vector<Problem> find_sync_doubts(const RunSpec& spec);

} // namespace dt::recipes
