#include "store/query/conditions.hpp"

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace dt::store {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, "condition " + why); }

bool is_key_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

void skip_blanks(std::string_view& text)
{
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
}

template<class Test> std::string_view take_while(std::string_view& text, Test test)
{
  const auto end = std::find_if_not(text.begin(), text.end(), test);
  const auto taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

std::string_view take_operator(std::string_view& text)
{
  // An operator must come before its own prefix.
  constexpr std::array<std::string_view, 8> operators{"==", "!=", "<=", ">=", "=", "<", ">", "~"};
  for (const auto op : operators)
    if (text.starts_with(op)) {
      text.remove_prefix(op.size());
      return op;
    }
  return {};
}

std::string_view take_value(std::string_view& text, std::string_view whole)
{
  if (text.empty() || (text.front() != '\'' && text.front() != '"'))
    return take_while(text, [](char c) { return std::isspace(static_cast<unsigned char>(c)) == 0; });
  const auto end = text.find(text.front(), 1);
  if (end == std::string_view::npos)
    refuse("'" + printable(whole) + "': the closing quotation mark " + text.front() + " is missing");
  const auto value = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return value;
}

Condition take_comparison(std::string_view& text)
{
  const auto whole = text;
  const auto key = take_while(text, is_key_character);
  skip_blanks(text);
  const auto op = take_operator(text);
  if (key.empty() || op.empty())
    refuse("'" + printable(trim(whole)) + "' is not of the form key=value; the operators are = != < <= > >= and ~ (contains)");
  skip_blanks(text);
  const bool quoted = !text.empty() && (text.front() == '\'' || text.front() == '"');
  const auto value = take_value(text, whole);
  const std::string shown(trim(whole.substr(0, whole.size() - text.size())));
  if (value.empty() && !quoted) refuse("'" + printable(shown) + "' has no value; write '' for an empty one");
  return {std::string(key), op == "==" ? "=" : std::string(op), std::string(value), shown};
}

// Columns whose recipe key has this name within its section, because labels use the short name: "period" finds sync_period.
std::vector<const Column*> columns_of_name(const std::string& name, const std::vector<Column>& columns)
{
  std::vector<const Column*> found;
  for (const auto& column : columns)
    if (column.name.find('_') != std::string::npos && column.name.substr(column.name.find('_') + 1) == name)
      found.push_back(&column);
  return found;
}

Cell value_of(const Condition& condition)
{
  const auto& text = condition.value;
  if (text == "true") return std::int64_t{1};
  if (text == "false") return std::int64_t{0};
  if (const auto integer = number_of<std::int64_t>(text)) return *integer;
  if (const auto real = number_of<double>(text); real && !std::isnan(*real)) return *real;
  refuse("'" + printable(condition.text) + "': " + condition.key + " is a number, and '" + printable(text) + "' is not");
}

// An empty value also matches NULL, so that cause='' finds runs without a cause. A text that a run lacks differs from every other
// text: strategy!=easgd finds programs without a strategy, too.
std::string comparison_sql(const Condition& condition, const Column& column)
{
  if (condition.op == "~") return "instr(lower(\"" + column.name + "\"), lower(?)) > 0";
  if (condition.value.empty()) return "coalesce(\"" + column.name + "\", '') " + condition.op + " ?";
  if (condition.op == "!=" && !column.number) return "\"" + column.name + "\" IS NOT ?";
  return "\"" + column.name + "\" " + condition.op + " ?";
}

// A run has its own tags and those of its studies. tag='' finds runs without one.
std::string tag_sql(const Condition& condition)
{
  const auto& op = condition.op;
  if (op != "=" && op != "!=" && op != "~")
    refuse("'" + printable(condition.text) + "': tags are compared by = and !=, or searched by ~");
  const bool is_in = condition.value.empty() ? op == "!=" : op != "!=";
  const std::string which = condition.value.empty() ? ""
                            : op == "~"             ? " WHERE instr(lower(tag), lower(?)) > 0"
                                                    : " WHERE tag = ?";
  return std::string("run_id ") + (is_in ? "IN" : "NOT IN") + " (SELECT run_id FROM tagged_runs" + which + ")";
}

} // namespace

const Column& find_column(const std::string& key, const std::string& shown, const std::vector<Column>& columns)
{
  auto name = key;
  std::replace(name.begin(), name.end(), '.', '_');
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& column) { return column.name == name; });
  if (found != columns.end()) return *found;
  const auto longer = columns_of_name(name, columns);
  if (longer.size() == 1) return *longer.front();
  std::vector<std::string> names;
  for (const auto* column : longer) names.push_back(column->name);
  if (!names.empty())
    throw Error(ErrorKind::usage, shown + ": " + printable(key) + " is ambiguous: " + join(names, ", ") + "; write one of them");
  for (const auto& column : columns) names.push_back(column.name);
  const auto near = nearest(name, names);
  throw Error(ErrorKind::usage, shown + ": there is no column " + printable(key) +
                                    (near ? "; did you mean " + *near + "?" : ".") +
                                    " Every column of the view runs_flat can be used");
}

std::vector<Condition> parse_conditions(std::string_view text)
{
  std::vector<Condition> conditions;
  for (skip_blanks(text); !text.empty(); skip_blanks(text)) conditions.push_back(take_comparison(text));
  if (conditions.empty()) refuse("is empty; write something like 'strategy=sync-sgd nodes>=2'");
  return conditions;
}

Clause clause_of(const std::vector<Condition>& conditions, const std::vector<Column>& columns)
{
  Clause clause;
  for (const auto& condition : conditions) {
    if (condition.key == "tag") {
      clause.sql += (clause.sql.empty() ? "" : " AND ") + tag_sql(condition);
      if (!condition.value.empty()) clause.values.emplace_back(condition.value);
      continue;
    }
    const auto& column = find_column(condition.key, "condition '" + printable(condition.text) + "'", columns);
    clause.sql += (clause.sql.empty() ? "" : " AND ") + comparison_sql(condition, column);
    const bool as_number = column.number && condition.op != "~" && !condition.value.empty();
    clause.values.push_back(as_number ? value_of(condition) : Cell(condition.value));
  }
  return clause;
}

} // namespace dt::store
