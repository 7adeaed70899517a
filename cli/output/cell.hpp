// Values and tables, each with a form for programs (JSON) and a form for people (text).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dt::cli {

using Json = nlohmann::ordered_json;

enum class Style { plain, strong, dim, good, warning, bad };

// One value: as data and as text.
struct Cell {
  Json value;
  std::string text;
  Style style = Style::plain;
};

Cell text_cell(std::string text, Style style = Style::plain);
Cell count_cell(std::int64_t count);
// NaN becomes null and "-".
Cell real_cell(double value, int significant_digits = 4);
Cell percent_cell(double fraction); // data: the fraction; text: "91.5 %"
Cell mfu_cell(double fraction);     // the same; above 100 %, which no processor reaches, marked with a "!"
Cell seconds_cell(double seconds);  // data: seconds; text: with its unit
Cell time_cell(double unix_s);      // data: seconds since the epoch; text: local time
Cell data_cell(Json value);         // only for programs

enum class Align { left, right };

struct Column {
  std::string name;  // name of the JSON member; empty: only for people
  std::string title; // empty: only for programs
  Align align = Align::left;
  int drop = 0; // narrow terminals: columns with the largest number are dropped first; 0: never

  bool is_called(const std::string& word) const { return !word.empty() && (name == word || title == word); }
};

struct Table {
  std::string name; // name of the JSON member
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::string when_empty = "none";
};

// Hides columns without a value in any row from people; programs still get them.
Table without_empty_columns(Table table);

// An array with one object per row.
Json to_json(const Table& table);

} // namespace dt::cli
