// Markup: text and tables as HTML. Everything that comes from outside goes through escaped().
#pragma once

#include "cli/output/cell.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

// The text with <, >, &, " and ' as character references. Control characters, direction marks and invalid UTF-8 become \xNN, as
// on a terminal; line feeds and tabs stay.
std::string escaped(std::string_view text);

// Returns "<p class="…">text</p>"; without a class if it is empty.
std::string paragraph(std::string_view text, std::string_view css_class = "");

// A table with a row per row, that page.js can sort and save. `name`: its id is "table-NAME"; letters, digits and `-`. Columns
// that are only for programs are hidden, and are part of what is saved. `links`: of each row the address that its first shown
// cell leads to; empty: none. An empty table becomes a paragraph with `when_empty`.
std::string table_html(const Table& table, const std::string& name, const std::vector<std::string>& links = {});

// JSON that can stand in a <script> element: `<` is written as \u003c, so that no text can end the element.
std::string script_json(const Json& value);

} // namespace dt::cli
