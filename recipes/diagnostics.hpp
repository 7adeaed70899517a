// Collecting mistakes: every reader goes on after one, so that a file's author sees all of them at once.
#pragma once

#include "recipes/recipe.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::recipes {

// Where a key or a value stands.
struct Mark {
  std::shared_ptr<const std::string> file; // as the user named it
  int line = 0;                            // from 1; 0: the whole file
  int column = 0;                          // in characters, from 1
};

class Diagnostics {
 public:
  // The same message at the same place counts once; after `limit` of them the rest is only counted. So the number of
  // diagnostics does not tell whether a reader has failed: readers return it.
  void add(const Mark& mark, std::string message);
  bool empty() const { return found_.empty(); }
  // A RecipeError with all of them, file by file in the order of the lines, when there are any.
  void throw_if_any() const;
  // All of them, in that order, with a last one that tells how many more there are.
  std::vector<Diagnostic> sorted() const;

 private:
  static constexpr std::size_t limit = 100;
  std::vector<Diagnostic> found_;
  std::size_t left_out_ = 0;
};

// "`text`", with control characters made visible and cut when long.
std::string ticked(std::string_view text);

} // namespace dt::recipes
