// Pattern: a POSIX extended regular expression with at most one group, which finds a number in a line. In addition \d, \s, \w and
// \b are known. glibc matches without backtracking over the whole line, so no expression and no line can stop the job that reads
// a program's output; for the same reason back references (\1) are refused.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dt {

class Pattern {
 public:
  // Throws a recipe error with the reason if the text is not such an expression.
  explicit Pattern(std::string_view text);
  // Whether the expression has the group that number_in needs.
  bool has_group() const;
  // The number in the group. Nothing if the line does not match, or if the text that was found is not a number ("nan" and "inf"
  // are).
  std::optional<double> number_in(const std::string& line) const;
  // Whether the line matches.
  bool is_in(const std::string& line) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

} // namespace dt
