// Node-hours in money.
#pragma once

#include "cli/output/cell.hpp"
#include "recipes/reading/types.hpp"

#include <optional>

namespace dt::cli {

// 1.5 node-hours at 0.8 EUR: data 1.2, text "1.2 EUR".
Cell cost_cell(double node_hours, const recipes::Price& price);

// Adds the column "cost" behind the column "node_hours". Without a price the table stays as it is.
Table with_cost(Table table, const std::optional<recipes::Price>& price);

} // namespace dt::cli
