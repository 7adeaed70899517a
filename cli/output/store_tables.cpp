#include "cli/output/store_tables.hpp"

#include "core/number.hpp"
#include "core/record/field.hpp"
#include "core/text.hpp"

#include <cctype>
#include <cmath>
#include <string_view>

namespace dt::cli {
namespace {

bool is_number_column(const store::Table& table, std::size_t column)
{
  bool any = false;
  for (const auto& row : table.rows) {
    if (std::holds_alternative<std::string>(row[column])) return false;
    any = any || !std::holds_alternative<std::monostate>(row[column]);
  }
  return any;
}

bool is_number(std::string_view text)
{
  if (text.starts_with('+')) text.remove_prefix(1);
  return number_of<double>(text).has_value();
}

// Spreadsheets take a text that begins with one of these characters for a formula and execute it. They do not execute it behind
// an apostrophe.
std::string without_formula(const std::string& text)
{
  const bool may_be_formula = !text.empty() && std::string_view("=+-@\t\r\n").find(text[0]) != std::string_view::npos;
  return may_be_formula && !is_number(text) ? "'" + text : text;
}

std::string csv_value(const std::string& any_text)
{
  const auto text = without_formula(any_text);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

} // namespace

std::string text_of(const store::Cell& cell)
{
  struct Printer {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return format_shortest(v); }
    std::string operator()(const std::string& v) const { return v; }
  };
  return std::visit(Printer{}, cell);
}

Cell cell_of(const store::Cell& cell)
{
  struct Converter {
    Cell operator()(std::monostate) const { return {nullptr, "-", Style::dim}; }
    Cell operator()(std::int64_t v) const { return count_cell(v); }
    Cell operator()(double v) const
    {
      if (std::isnan(v)) return {nullptr, "-", Style::dim};
      if (!std::isfinite(v)) return text_cell(std::string(dt::word_of(v)));
      return {v, real_cell(v, 6).text, Style::plain};
    }
    Cell operator()(const std::string& v) const { return text_cell(v); }
  };
  return std::visit(Converter{}, cell);
}

Table table_of(const std::string& name, const store::Table& table)
{
  Table converted{name, {}, {}, "no rows"};
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    converted.columns.push_back({table.columns[c], table.columns[c], is_number_column(table, c) ? Align::right : Align::left, 0});
  converted.rows.reserve(table.rows.size());
  for (const auto& row : table.rows) {
    auto& cells = converted.rows.emplace_back();
    for (const auto& cell : row) cells.push_back(cell_of(cell));
  }
  return converted;
}

std::vector<std::pair<std::string, std::string>> members_of(const std::string& name, const std::string& value)
{
  const auto map = value.starts_with('{') ? Json::parse(value, nullptr, false) : Json();
  if (!map.is_object() || map.empty()) return {{name, value}};
  std::vector<std::pair<std::string, std::string>> members;
  for (const auto& [key, member] : map.items())
    for (auto& one :
         members_of((name.empty() ? "" : name + ".") + key, member.is_string() ? member.get<std::string>() : member.dump()))
      members.push_back(std::move(one));
  return members;
}

std::string without_json(const std::string& value)
{
  const auto members = members_of("", value);
  if (members.size() == 1 && members.front().first.empty()) return value;
  std::vector<std::string> pairs;
  for (const auto& [name, member] : members) pairs.push_back(name + ": " + member);
  return join(pairs, ", ");
}

std::string member_name(const std::string& title)
{
  std::string name;
  for (const char c : title)
    name +=
        std::isalnum(static_cast<unsigned char>(c)) != 0 ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '_';
  return name;
}

std::string csv_line(const std::vector<std::string>& values)
{
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i) line += (i == 0 ? "" : ",") + csv_value(values[i]);
  return line + "\r\n";
}

std::string csv_of(const store::Table& table)
{
  std::string text = csv_line(table.columns);
  std::vector<std::string> values;
  for (const auto& row : table.rows) {
    values.clear();
    for (const auto& cell : row) values.push_back(text_of(cell));
    text += csv_line(values);
  }
  return text;
}

} // namespace dt::cli
