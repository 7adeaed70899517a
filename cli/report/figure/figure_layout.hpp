// FigureLayout: the size of a figure and of its texts, chosen so that no text covers another one.
#pragma once

#include "cli/report/chart/chart.hpp"
#include "cli/report/figure/figure_style.hpp"

#include <string>
#include <vector>

namespace dt::cli {

struct FigureLayout {
  double width_in = 0, height_in = 0;    // in print
  int lines = 0;                         // in a terminal
  bool is_horizontal = false;            // categories run downwards: so wanted, or their labels do not fit beside each other
  std::vector<std::string> categories{}; // their labels; a line feed breaks one
  std::vector<std::string> names{};      // of the series, for the legend
  bool has_legend = false;
  int legend_lines = 0;
  std::size_t longest_name = 0; // of a series, in characters
  int title_lines = 0;
  double line_share = 0;                     // a line of text, as a share of the figure's height
  std::string title{}, x_title{}, y_title{}; // of the figure, below it and beside it
};

// Width of a text column in print.
double width_in(const FigureStyle& style);

FigureLayout layout_of(const Chart& chart, const FigureStyle& style);

// The step between the ticks of a linear axis along the lower side, so that their labels stand apart: 1, 2 or 5 times a power
// of 10.
double tick_step(double from, double to, const FigureLayout& layout, const FigureStyle& style);

// Whether each of the ticks gets its label: the first and the last one do, those between if there is room beside their
// neighbours. `from` and `to` are the ends of the axis.
std::vector<bool> labelled_ticks(const Axis& axis, double from, double to, const FigureStyle& style);

} // namespace dt::cli
