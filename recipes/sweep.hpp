// Sweeps as read: the points of parameter space that a recipe asks for, before sizes and repeats.
#pragma once

#include "recipes/conditions.hpp"
#include "recipes/recipe_file.hpp"
#include "recipes/settings.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dt::recipes {

// A point, or part of one: values that go together, and how people read them.
struct Level {
  std::vector<Assignment> assignments;
  std::string label; // "learning_rate=0.1 momentum=0.9"
};

// Levels of which a point takes one: one key of the matrix, or all keys of the zip together.
struct Factor {
  std::vector<std::string> paths;
  std::vector<Level> levels;
  Mark mark;
};

struct Sweep {
  std::vector<Factor> factors; // every combination; the last varies fastest
  std::vector<Level> include;  // further points
  std::vector<Condition> exclude;
  Mark exclude_mark; // where they stand
  bool is_given = false; // it has factors or included points

  // Combinations and included points; cut off at `most` + 1, so it cannot overflow.
  std::size_t count_points(std::size_t most) const;
};

// Reads the recipe's sweep and the --over options. Keys of a part that could not be read become unreadable in `settings`.
Sweep read_sweep(const RecipeFile& recipe, const std::vector<std::string>& over, Settings& settings, Diagnostics& diagnostics);

} // namespace dt::recipes
