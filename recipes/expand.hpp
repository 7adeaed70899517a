// From one resolved recipe to its runs: points x sizes x repeats, in order of submission.
#pragma once

#include "recipes/settings.hpp"
#include "recipes/sweep.hpp"

#include <vector>

namespace dt::recipes {

inline constexpr std::size_t most_runs = 1'000'000;

struct Resolved {
  RunSpec base;
  Settings settings; // that made the base: the places to complain about
  Sweep sweep;
  Mark file; // the recipe
};

// Every run with its label, size, repeat and seed. What does not fit together is a diagnostic; so is a recipe of more than
// most_runs, before anything is expanded. What fits together but is hardly meant is a warning.
std::vector<RunSpec> expand(const Resolved& resolved, Diagnostics& diagnostics, Diagnostics& warnings);

} // namespace dt::recipes
