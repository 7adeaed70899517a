// Texts in a gnuplot script, where a label may hold anything: it is shown as it is written, and never run or interpreted.
#pragma once

#include "cli/report/figure/figure_style.hpp"

#include <string>
#include <string_view>

namespace dt::cli {

// An expression: the text in single quotes, in which gnuplot replaces nothing. Control characters become \xNN. A text for LaTeX
// has LaTeX's special characters escaped. Needs `noenhanced` in all other formats.
std::string gnuplot_string(std::string_view text, FigureFormat format);

// The same as an expression, in which a line feed breaks the text.
std::string gnuplot_lines(std::string_view text, FigureFormat format);

// The same for the label of a tick, where % begins a format.
std::string gnuplot_tick_label(std::string_view text, FigureFormat format);

// A text for the end of a comment. A backslash at the end of a line would join it with the next line, so a dot follows it.
std::string gnuplot_comment(std::string_view text);

// The text with all special characters of LaTeX escaped.
std::string tex_escaped(std::string_view text);

// The text in at most `most` lines of `width` characters, broken at blanks and behind punctuation. What is still too long is cut
// in the middle of the last line, with "…".
std::string in_lines(std::string_view text, std::size_t width, int most);

} // namespace dt::cli
