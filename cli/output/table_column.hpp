// TableColumn: a column of a table, together with the cell of a row in it.
#pragma once

#include "cli/output/cell.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dt::cli {

template<class Row> struct TableColumn {
  Column column;
  std::function<Cell(const Row&)> cell;
};

template<class Row, class Item, class RowOf>
Table table_of(std::string name, const std::vector<TableColumn<Row>>& columns, const std::vector<Item>& items, RowOf row_of,
               std::string when_empty)
{
  Table table{std::move(name), {}, {}, std::move(when_empty)};
  for (const auto& column : columns) table.columns.push_back(column.column);
  for (const auto& item : items) {
    auto& cells = table.rows.emplace_back();
    for (const auto& column : columns) cells.push_back(column.cell(row_of(item)));
  }
  return table;
}

} // namespace dt::cli
