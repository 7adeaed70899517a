// Values and tables as both programs and people read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dt::cli {

using Json = nlohmann::ordered_json;

enum class Style { plain, strong, dim, good, warning, bad };

// One value: its data, and how people read it.
struct Cell {
  Json value;
  std::string text;
  Style style = Style::plain;
};

Cell text_cell(std::string text, Style style = Style::plain);
Cell count_cell(std::int64_t count);
// NaN is null and "-".
Cell real_cell(double value, int significant_digits = 4);
Cell percent_cell(double fraction); // data: the fraction; text: "91.5%"
Cell seconds_cell(double seconds);  // data: seconds; text: with its unit
Cell time_cell(double unix_s);      // data: seconds since the epoch; text: local time
Cell data_cell(Json value);         // for programs only

enum class Align { left, right };

struct Column {
  std::string name;  // of the JSON member
  std::string title; // empty: for programs only
  Align align = Align::left;
  int drop = 0; // on narrow terminals columns leave by descending number; 0 stays
};

struct Table {
  std::string name; // of the JSON member
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::string when_empty = "none";
};

// The columns without a value in any row are left to programs: they tell people nothing.
Table without_empty_columns(Table table);

// An array of one object a row.
Json to_json(const Table& table);

} // namespace dt::cli
