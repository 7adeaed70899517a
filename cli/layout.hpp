// Tables and paragraphs fitted to a width.
#pragma once

#include "cli/cell.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace dt::cli {

using Paint = std::function<std::string(std::string_view text, Style style)>;

// The table as lines, at most `width` columns wide when that is not 0. Where it does not fit, columns without any value leave first; then
// "…" takes the place of what all texts of a column begin with; columns with the same text in every row leave; long words are cut; columns
// leave by Column::drop; words are cut further. A last line in brackets names the columns that left. Control characters are shown as \xNN.
std::string layout(const Table& table, std::size_t width, const Paint& paint);

// `text` cut to `width` columns, the last of them "…" when something is missing.
std::string fit(std::string_view text, std::size_t width);

// `text` cut to `width` columns with "…" in its middle.
std::string fit_middle(std::string_view text, std::size_t width);

// Words of `text` in lines of at most `width` columns (0: one line), every line but the first indented.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

} // namespace dt::cli
