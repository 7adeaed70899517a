// Charts as the JSON that charts.js draws.
#pragma once

#include "cli/output/cell.hpp"
#include "cli/report/chart/chart.hpp"

namespace dt::cli {

// {id, title, caption, stacked, horizontal, x, y, series}; an axis is {title, scale, share, zero, ticks, categories}, a series
// {name, mark, origin, colour, points}, a point [x, y, low, high, note]. Figures have seven significant digits; one that was not
// measured is null.
Json to_json(const Chart& chart);

} // namespace dt::cli
