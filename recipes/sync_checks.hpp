// What a recipe's strategy asks of its other keys. Pure.
#pragma once

#include "recipes/checks.hpp"

namespace dt::recipes {

// Adds what is wrong between `sync` and the rest of a run.
void find_sync_problems(const RunSpec& spec, std::vector<Problem>& problems);

} // namespace dt::recipes
