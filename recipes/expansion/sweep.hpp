// Sweeps: the points of the parameter space that a recipe requests, before sizes and repeats are added.
#pragma once

#include "recipes/expansion/conditions.hpp"
#include "recipes/reading/recipe_file.hpp"
#include "recipes/reading/settings.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dt::recipes {

// A point or a part of it: values that belong together, and their label.
struct Level {
  std::vector<Assignment> assignments;
  std::string label; // "learning_rate=0.1 momentum=0.9"
};

// Alternative levels, of which each point takes one: one key of the matrix, or all keys of the zip together.
struct Factor {
  std::vector<std::string> paths;
  std::vector<Level> levels;
  Mark mark;
};

// A condition of sweep.exclude.
struct Exclusion {
  Condition condition;
  Mark mark;
};

struct Sweep {
  std::vector<Factor> factors; // all combinations; the last factor varies fastest
  std::vector<Level> include;  // additional points
  std::vector<Exclusion> exclude;
  Mark exclude_mark;     // place of the conditions
  bool is_given = false; // the sweep has factors or included points

  // Number of combinations and included points. Limited to `most` + 1, so that it cannot overflow.
  std::size_t count_points(std::size_t most) const;
};

// Reads the recipe's sweep and the --over options. Keys of a part that could not be read become unreadable in `settings`.
Sweep read_sweep(const RecipeFile& recipe, const std::vector<std::string>& over, Settings& settings, Diagnostics& diagnostics);

} // namespace dt::recipes
