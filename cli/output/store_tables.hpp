// Converts tables of the store to tables of the output.
#pragma once

#include "cli/output/cell.hpp"
#include "store/database/database.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dt::cli {

Cell cell_of(const store::Cell& cell);

// The value with all its digits, as in CSV; empty for NULL.
std::string text_of(const store::Cell& cell);

// Columns that contain only numbers are right-aligned.
Table table_of(const std::string& name, const store::Table& table);

// A value by its name, or each member of a value that is a map in JSON: "facts" {"a": 1, "b": {"c": "x"}} is "facts.a" 1 and
// "facts.b.c" x.
std::vector<std::pair<std::string, std::string>> members_of(const std::string& name, const std::string& value);
// A value that is a map as "a: 1, b.c: x"; any other one as it is.
std::string without_json(const std::string& value);

// Name of a JSON member for a title: "Step times" -> "step_times".
std::string member_name(const std::string& title);

// A line of comma-separated values (RFC 4180).
std::string csv_line(const std::vector<std::string>& values);
std::string csv_of(const store::Table& table);

} // namespace dt::cli
