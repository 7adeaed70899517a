// The columns of a table of points that tell its rows apart.
#pragma once

#include "cli/output/table_column.hpp"
#include "store/analysis/verdict/point_labels.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dt::cli {

// A column for each key that the labels differ in; the recipe's own labels take one column, "point". For programs there is one
// member, with the label as dtctl stores it. A narrow terminal drops keys that follow from another key first.
template<class Row>
std::vector<TableColumn<Row>> label_columns(const store::PointLabels& labels, std::string member,
                                            std::function<std::string(const Row&)> label_of)
{
  const bool is_one = labels.has_own() || labels.keys().empty();
  std::vector<TableColumn<Row>> columns;
  if (is_one || !member.empty())
    columns.push_back({{std::move(member), is_one ? "point" : ""}, [labels, label_of](const Row& row) {
                         return Cell{label_of(row), labels.shown(label_of(row)), Style::plain};
                       }});
  if (is_one) return columns;
  for (const auto& [key, is_implied] : labels.keys())
    columns.push_back({{"", key.empty() ? "mark" : key, Align::left, is_implied ? 6 : 0},
                       [labels, label_of, key](const Row& row) { return text_cell(labels.value(label_of(row), key)); }});
  return columns;
}

// Puts these columns before the others. A swept key with the name of another column, such as `ranks`, gets a name of its own.
template<class Row> std::vector<TableColumn<Row>> before(std::vector<TableColumn<Row>> first, std::vector<TableColumn<Row>> rest)
{
  for (auto& [column, cell] : first)
    if (std::any_of(rest.begin(), rest.end(), [&](const auto& other) { return other.column.is_called(column.title); }))
      column.title += " (swept)";
  for (auto& column : rest) first.push_back(std::move(column));
  return first;
}

} // namespace dt::cli
