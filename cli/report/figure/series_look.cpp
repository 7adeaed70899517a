#include "cli/report/figure/series_look.hpp"

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace dt::cli {
namespace {

template<class Value> using PerColour = std::array<Value, palette_size>;

// As in cli/report/assets/charts.js.
constexpr PerColour<const char*> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d", "#8f7f00"};
constexpr PerColour<const char*> greys{"#000000", "#8c8c8c", "#4d4d4d", "#a6a6a6", "#666666", "#b3b3b3", "#262626", "#999999"};
constexpr const char* ideal_grey = "#707070";

// Circle, square, triangle, diamond, inverted triangle, pentagon; then two marks that have no inside.
constexpr PerColour<int> filled{7, 5, 9, 13, 11, 15, 2, 1};
constexpr PerColour<int> hollow{6, 4, 8, 12, 10, 14, 2, 1};

// Lengths in units of the line's width: dash, gap.
constexpr PerColour<const char*> dashes{"(12,5)", "(6,4)", "(20,5)", "(8,8)", "(16,9)", "(4,4)", "(26,6)", "(10,3)"};
constexpr PerColour<const char*> dots{"(1,3)", "(1,5)", "(2,3)", "(2,5)", "(1,7)", "(2,7)", "(3,3)", "(3,5)"};
constexpr const char* dash_dot = "(12,4,2,4)";

// gnuplot's fill patterns alternate with full bars, so that two colours of the same lightness differ in print without colours.
constexpr PerColour<int> patterns{3, 4, 3, 5, 3, 2, 3, 1};
constexpr int full_pattern = 3;

std::size_t place_of(const Series& series) { return static_cast<std::size_t>(series.colour) % palette_size; }

std::string colour_of(const Series& series, const FigureStyle& style)
{
  // A dark colour cannot be seen in a dark terminal.
  if (series.origin == Origin::ideal) return fmt::format("rgb '{}'", ideal_grey);
  if (style.format == FigureFormat::terminal && series.colour % palette_size == 6) return fmt::format("rgb '{}'", ideal_grey);
  return fmt::format("rgb '{}'", (style.is_grey ? greys : colours)[place_of(series)]);
}

std::string dash_of(const Series& series)
{
  switch (series.origin) {
  case Origin::measured:
    break;
  case Origin::simulated:
    return dashes[place_of(series)];
  case Origin::predicted:
    return dots[place_of(series)];
  case Origin::ideal:
    return dash_dot;
  }
  return "solid";
}

std::string fill_of(const Series& series)
{
  const int pattern = patterns[place_of(series)];
  if (pattern != full_pattern) return fmt::format("pattern {}", pattern);
  return series.origin == Origin::measured ? "solid 1" : "solid 0.3";
}

} // namespace

SeriesLook look_of(const Series& series, const FigureStyle& style)
{
  const auto& marks = series.origin == Origin::measured ? filled : hollow;
  return {.colour = colour_of(series, style),
          .dash = dash_of(series),
          // In a terminal, pointtype 1 to 8 are the letters A to H.
          .point = style.format == FigureFormat::terminal ? series.colour % palette_size + 1 : marks[place_of(series)],
          .width = series.origin == Origin::ideal ? 1.4 : 1.8,
          .fill = fill_of(series)};
}

} // namespace dt::cli
