// Checks of the keys of `sync` against the rest of a run. Pure functions.
#pragma once

#include "recipes/checks.hpp"

namespace dt::recipes {

// Adds the contradictions between `sync` and the other keys.
void find_sync_problems(const RunSpec& spec, std::vector<Problem>& problems);

// Returns values that are allowed but probably unintended.
std::vector<Problem> find_sync_doubts(const RunSpec& spec);

} // namespace dt::recipes
