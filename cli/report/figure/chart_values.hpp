// The values of charts for other programs: CSV and JSON.
#pragma once

#include "cli/output/cell.hpp"
#include "cli/report/chart/chart.hpp"

#include <span>
#include <string>

namespace dt::cli {

// A line for each point: chart, label, series, origin, mark, x, category, y, low, high, note.
std::string csv_of(std::span<const Chart> charts);

// A list of charts. Shares are fractions, and NaN is null.
Json json_of(std::span<const Chart> charts);

} // namespace dt::cli
