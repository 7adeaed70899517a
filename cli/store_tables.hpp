// Tables of the store as tables of the output.
#pragma once

#include "cli/cell.hpp"
#include "store/database.hpp"

#include <string>

namespace dt::cli {

Cell cell_of(const store::Cell& cell);

// Columns that hold numbers only are aligned to the right.
Table table_of(const std::string& name, const store::Table& table);

// A JSON member's name for a title: "Step times" -> "step_times".
std::string member_name(const std::string& title);

// As a line of comma-separated values (RFC 4180).
std::string csv_line(const std::vector<std::string>& values);
std::string csv_of(const store::Table& table);

} // namespace dt::cli
