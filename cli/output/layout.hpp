// Fits tables and paragraphs into a given width.
#pragma once

#include "cli/output/cell.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace dt::cli {

using Paint = std::function<std::string(std::string_view text, Style style)>;

// Formats the table as lines of at most `width` columns; 0 means no limit. If the table is too wide, takes these steps until it
// fits: drop empty columns; replace the common beginning of all texts in a column by "…"; drop columns with the same text in
// every row; cut long words; drop columns by Column::drop; cut words further. A last line in brackets names the dropped columns.
// Control characters are shown as \xNN.
std::string layout(const Table& table, std::size_t width, const Paint& paint);

// Cuts `text` to `width` columns. The last column is "…" if text is missing.
std::string fit(std::string_view text, std::size_t width);

// Cuts `text` to `width` columns with "…" in the middle.
std::string fit_middle(std::string_view text, std::size_t width);

// Breaks `text` into lines of at most `width` columns (0: one line). All lines except the first are indented.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

} // namespace dt::cli
