// SeriesLook: colour, dash, mark and fill of a series in a figure.
#pragma once

#include "cli/report/chart/chart.hpp"
#include "cli/report/figure/figure_style.hpp"

#include <string>

namespace dt::cli {

// Values of gnuplot's options.
struct SeriesLook {
  std::string colour; // of lc: "rgb '#0072b2'"
  std::string dash;   // of dashtype: "solid" or "(6,3)"
  int point = 7;      // of pointtype; with gnuplot's cairo, svg and latex terminals: 4 to 15 are hollow and filled marks
  double width = 1;   // of linewidth; 1 is 0.5 pt
  std::string fill;   // of fillstyle, for bars
};

// Measured series have filled marks, solid lines and full bars; simulated ones hollow marks, dashed lines and pale bars;
// predicted ones dotted lines. Within an origin, each of the eight colours has its own mark, its own dashes (if dashed) and its
// own fill.
SeriesLook look_of(const Series& series, const FigureStyle& style);

} // namespace dt::cli
