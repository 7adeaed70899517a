// Pattern: a regular expression with at most one group, which finds a number in a line. The syntax is RE2's, which is nearly
// Python's; it matches in one pass, so no expression and no line can stop the job that reads a program's output. What RE2 lacks
// for this reason (look-around, back references) is refused by name.
#pragma once

#include "core/program/printed_text.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace dt {

// What the group of an expression has found in a line.
struct Found {
  enum class Kind {
    number,     // a whole number
    cut,        // a part of a number, which goes on outside of the group
    unreadable, // it looks like a number, but has no value: "1.2.3", "0,53", 1e400
    text,       // it is no number
  };
  Kind kind = Kind::text;
  double value = 0;           // of Kind::number
  std::string text;           // what the group has found, without a unit behind the number
  std::string whole;          // the number in the line; for Kind::text, the same as `text`
  std::string before, behind; // the line in front of the number, and from its end on: a unit may stand there (printed_unit.hpp)
};

class Pattern {
 public:
  // Throws a recipe error with the reason if the text is not such an expression.
  explicit Pattern(std::string_view text);
  // Whether the expression has the group that find needs.
  bool has_group() const;
  // Where the program has printed "nan" or "inf", an expression finds them also if it is written for digits. Nothing if the line
  // does not match. `line`: a plain text (core/program/printed_text.hpp).
  std::optional<Found> find(std::string_view line) const;
  // Whether the line matches.
  bool is_in(std::string_view line) const;

 private:
  std::optional<Found> find_not_finite(std::string_view line) const;
  TextPart surroundings(std::string_view line, TextPart group, TextPart part) const;

  std::shared_ptr<const re2::RE2> expression_;
  char before_group_ = 0, after_group_ = 0; // the characters beside the group in the expression; 0 if they are no separators
};

} // namespace dt
