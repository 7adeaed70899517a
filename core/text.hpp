// Small things done to text everywhere.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// One word for a POSIX shell that stands for exactly these bytes: left alone when plainly safe, else in single quotes.
std::string shell_quote(std::string_view text);

// All words quoted, joined by blanks.
std::string shell_join(std::span<const std::string> words);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string_view trim(std::string_view text);

// The candidate with the least edit distance, when it is near enough to be a likely slip of the pen.
std::optional<std::string> nearest(std::string_view wrong, std::span<const std::string> candidates);

// "; did you mean `epochs`? Allowed: epochs, steps" or, when nothing is near, "; allowed: epochs, steps".
std::string advice(std::string_view wrong, std::span<const std::string> allowed);

bool is_valid_utf8(std::string_view bytes);

// Control characters, marks that change the direction of text, and invalid UTF-8 as \xNN, for messages and tables; everything
// else untouched.
std::string printable(std::string_view text);

// As printable, with line feeds and tabs as they are.
std::string printable_lines(std::string_view text);

// Columns a terminal needs to show this UTF-8 text (one a code point).
std::size_t display_width(std::string_view text);

// The shortest decimal form that reads back to the same double ("0.1", "1e-05", "nan").
std::string format_shortest(double value);

} // namespace dt
