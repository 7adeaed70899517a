// Expands a resolved recipe to its runs (points x sizes x repeats), in order of submission.
#pragma once

#include "core/maths/random.hpp"
#include "recipes/expansion/sweep.hpp"
#include "recipes/reading/settings.hpp"
#include "recipes/reading/types.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::recipes {

inline constexpr std::size_t most_runs = 1'000'000;

struct Resolved {
  RunSpec base;
  Settings settings;  // the settings that made `base`, with their places for diagnostics
  Settings profile{}; // those of them that the machine profile gives, unless the recipe gives them too
  Sweep sweep;
  std::optional<Price> price{};    // of the machine profile
  Mark file;                       // the recipe file
  std::optional<MarkedText> label; // the recipe's `label`, with its placeholders
  std::vector<TunedRun> tuned{};   // LoadOptions::tuned
};

// Returns every run with its label, size, repeat and seed. Contradictions are diagnostics. A recipe with more than most_runs runs
// is refused before the expansion. Values that are allowed but probably unintended are warnings. `labels` has the recipe's label
// of each series (point_label.hpp); two points with one label are refused.
struct Expansion {
  std::vector<RunSpec> runs;
  std::map<std::string, std::string> labels{};
};
Expansion expand(const Resolved& resolved, Diagnostics& diagnostics, Diagnostics& warnings);

// Sentences on what is as intended, but should be known: settings of the recipe or its profile that some of the runs do not use,
// and images of another size than in the papers of the models.
std::vector<std::string> notes_on(const Resolved& resolved, const std::vector<RunSpec>& runs);

// 0 … count-1 in a random order (Fisher-Yates) that is equal on every machine and with every standard library, because studies
// are repeated years later.
std::vector<std::size_t> shuffled(std::size_t count, Random& random);

} // namespace dt::recipes
