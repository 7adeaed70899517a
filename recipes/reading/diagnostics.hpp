// Collects mistakes. Readers continue after a mistake, so that the author of a file sees all of them at once.
#pragma once

#include "recipes/reading/types.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::recipes {

// The place of a key or a value.
struct Mark {
  std::shared_ptr<const std::string> file; // the name that the user gave
  int line = 0;                            // counted from 1; 0: the whole file
  int column = 0;                          // in characters, counted from 1
};

class Diagnostics {
 public:
  // Adds a diagnostic. A repeated message at the same place is dropped, and messages beyond `limit` are only counted. The number
  // of diagnostics therefore does not show whether a reader failed: readers return that.
  void add(const Mark& mark, std::string message);
  bool empty() const { return found_.empty(); }
  // Throws a RecipeError with all diagnostics if there are any, ordered by file and line.
  void throw_if_any() const;
  // Returns all diagnostics in this order. If some were only counted, a last one gives their number.
  std::vector<Diagnostic> sorted() const;

 private:
  static constexpr std::size_t limit = 100;
  std::vector<Diagnostic> found_;
  std::size_t left_out_ = 0;
};

// Returns "`text`" with control characters made visible. Long text is cut.
std::string ticked(std::string_view text);

} // namespace dt::recipes
