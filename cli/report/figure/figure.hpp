// Figures through gnuplot: files for papers, and drawings of characters for terminals.
#pragma once

#include "cli/report/chart/chart.hpp"
#include "cli/report/figure/figure_style.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace dt::cli {

// A drawn figure: the files that were written or the characters for the terminal, and gnuplot's warnings.
struct Figure {
  std::vector<std::filesystem::path> files{}; // that were written
  std::string drawing{};                      // of FigureFormat::terminal
  std::string warnings{};                     // gnuplot's, usually empty
};

// Writes the figure to `file` as style.format says. FigureFormat::tex writes two files: `file`, and the same name with .pdf,
// which it includes. Each file is replaced atomically. Throws an environment error if gnuplot is missing or fails, or if a file
// cannot be written.
Figure write_figure(const Chart& chart, const FigureStyle& style, const std::filesystem::path& file);

// Draws with characters. No line is longer than style.width.
Figure draw_figure(const Chart& chart, const FigureStyle& style);

} // namespace dt::cli
