// The data of a chart, as gnuplot reads them.
#pragma once

#include "cli/report/chart/chart.hpp"
#include "cli/report/figure/figure_style.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// A block of lines per series, in their order; two empty lines are between blocks, so that `index N` is series N. A line is
//
//   x y low high [ from to ] [ "#" note ]
//
// with x the index of the category where the axis has any, NaN for what is missing, and `from` and `to` the ends of a bar, which
// for stacked bars begins where the one below it ends. Shares are fractions.
//
// A terminal draws a bar as a row of letters. Its lines are "x value" instead, a line for each letter.
std::string gnuplot_data(const Chart& chart, const FigureStyle& style);

// The ends of the bars of each series: of its points, in their order.
struct BarEnds {
  double from = 0, to = 0;
};
std::vector<std::vector<BarEnds>> bar_ends(const Chart& chart);

bool is_bar(Mark mark);

} // namespace dt::cli
