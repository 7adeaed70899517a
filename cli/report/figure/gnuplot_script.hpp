// The gnuplot script that draws a chart.
#pragma once

#include "cli/report/chart/chart.hpp"
#include "cli/report/figure/figure_style.hpp"

#include <string>

namespace dt::cli {

// A complete script, with its data in it. `output`: the file that it writes, relative to the folder in which gnuplot runs; empty:
// standard output.
std::string gnuplot_script(const Chart& chart, const FigureStyle& style, const std::string& output);

} // namespace dt::cli
