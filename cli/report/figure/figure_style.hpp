// FigureStyle: what the user chooses about a figure, apart from its data.
#pragma once

namespace dt::cli {

enum class FigureFormat { terminal, pdf, svg, png, tex };

struct FigureStyle {
  FigureFormat format = FigureFormat::pdf;
  int columns = 1; // of the page that the figure spans: 1 (3.5 in) or 2 (7.16 in), as IEEE and ACM set them
  bool is_grey = false;
  bool has_title = false;
  // Of FigureFormat::terminal:
  int width = 80, height = 24; // characters
  bool has_colour = false;     // ANSI colours
  bool is_utf8 = false;        // gnuplot's block terminal may be used
};

} // namespace dt::cli
