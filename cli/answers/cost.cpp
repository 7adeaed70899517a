#include "cli/answers/cost.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::cli {

Cell cost_cell(double node_hours, const recipes::Price& price)
{
  if (!std::isfinite(node_hours)) return {nullptr, "-", Style::plain};
  const double cost = node_hours * price.node_hour;
  // Two decimals, but three digits of what costs less than a unit.
  return {cost, (cost >= 1 || cost == 0 ? fmt::format("{:.2f} ", cost) : fmt::format("{:.3g} ", cost)) + price.currency,
          Style::plain};
}

Table with_cost(Table table, const std::optional<recipes::Price>& price)
{
  const auto hours = std::ranges::find(table.columns, "node_hours", &Column::name);
  if (!price || hours == table.columns.end()) return table;
  const auto place = hours - table.columns.begin();
  for (auto& row : table.rows) {
    const auto& value = row[static_cast<std::size_t>(place)].value;
    row.insert(row.begin() + place + 1, cost_cell(value.is_number() ? value.get<double>() : std::nan(""), *price));
  }
  table.columns.insert(hours + 1, {"cost", "cost", Align::right, 1});
  return table;
}

} // namespace dt::cli
