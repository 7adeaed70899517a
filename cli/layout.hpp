// Tables and paragraphs fitted to a width.
#pragma once

#include "cli/cell.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace dt::cli {

using Paint = std::function<std::string(std::string_view text, Style style)>;

// The table as lines, at most `width` columns wide when that is not 0: long words are cut with "…", then columns leave by
// Column::drop, then words are cut further. Control characters are shown as \xNN.
std::string layout(const Table& table, std::size_t width, const Paint& paint);

// `text` cut to `width` columns, the last of them "…" when something is missing.
std::string fit(std::string_view text, std::size_t width);

// Words of `text` in lines of at most `width` columns (0: one line), every line but the first indented.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

} // namespace dt::cli
