#include "cli/output/cell.hpp"

#include "cli/output/number_text.hpp"
#include "core/units.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

Cell measured(double value, std::string text)
{
  if (std::isfinite(value)) return {value, std::move(text), Style::plain};
  return {nullptr, "-", Style::dim};
}

// Formats with `digits` significant digits. Avoids an exponent for large numbers below 1e12.
std::string format_significant(double value, int digits)
{
  if (std::abs(value) >= std::pow(10.0, digits) && std::abs(value) < 1e12) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}g}", value, digits);
}

} // namespace

Cell text_cell(std::string text, Style style)
{
  Json value = text;
  return {std::move(value), std::move(text), style};
}

Cell count_cell(std::int64_t count) { return {count, std::to_string(count), Style::plain}; }

Cell real_cell(double value, int significant_digits) { return measured(value, format_significant(value, significant_digits)); }

Cell percent_cell(double fraction) { return measured(fraction, number_text("%.1f %%", fraction * 100)); }

Cell mfu_cell(double fraction)
{
  auto cell = percent_cell(fraction);
  if (fraction <= 1 || std::isnan(fraction)) return cell;
  cell.text += " !";
  cell.style = Style::warning;
  return cell;
}

Cell seconds_cell(double seconds) { return measured(seconds, format_seconds(seconds)); }

Cell time_cell(double unix_s)
{
  if (unix_s <= 0) return {nullptr, "-", Style::dim};
  return {unix_s, format_time_local(unix_s), Style::plain};
}

Cell data_cell(Json value) { return {std::move(value), {}, Style::plain}; }

namespace {

bool has_values(const Table& table, std::size_t column)
{
  for (const auto& row : table.rows)
    if (!row[column].value.is_null() && row[column].value != "") return true;
  return false;
}

} // namespace

Table without_empty_columns(Table table)
{
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    if (has_values(table, c)) continue;
    if (!table.columns[c].name.empty()) {
      table.columns[c].title.clear(); // programs get it all the same
      continue;
    }
    const auto at = static_cast<std::ptrdiff_t>(c);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
  return table;
}

Json to_json(const Table& table)
{
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (const auto& name = table.columns[i].name; !name.empty()) object[name] = row[i].value;
    rows.push_back(std::move(object));
  }
  return rows;
}

} // namespace dt::cli
