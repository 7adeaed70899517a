// Helper functions for text: shell quoting, splitting, suggestions for misspelled names, safe display.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// Quotes `text` as one word of a POSIX shell. Text of safe characters only is returned unchanged; other text is put in single
// quotes.
std::string shell_quote(std::string_view text);

// Quotes each word and joins the words with blanks.
std::string shell_join(std::span<const std::string> words);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string_view trim(std::string_view text);

// The last line that is not blank, trimmed.
std::string last_line(std::string_view text);
// The letters A to Z in lower case; all other bytes stay.
std::string lower_case(std::string_view text);

// Returns the candidate with the smallest edit distance to `wrong`, if it is close enough to be a likely typing error.
std::optional<std::string> nearest(std::string_view wrong, std::span<const std::string> candidates);

// Returns "; did you mean `epochs`? Allowed: epochs, steps" or, if no name is close, "; allowed: epochs, steps".
std::string advice(std::string_view wrong, std::span<const std::string> allowed);

bool is_valid_utf8(std::string_view bytes);

// Whether it is one or more digits 0 to 9.
bool is_digits(std::string_view text);

// Replaces control characters, marks that change the text direction, and invalid UTF-8 with \xNN, for messages and tables.
std::string printable(std::string_view text);

// Like printable, but keeps line feeds and tabs.
std::string printable_lines(std::string_view text);

// Columns that a terminal needs to show this UTF-8 text, counted as one column per code point.
std::size_t display_width(std::string_view text);

// Returns the shortest decimal text that reads back to the same double ("0.1", "1e-05", "nan").
std::string format_shortest(double value);

} // namespace dt
