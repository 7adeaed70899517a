// A chart as data: what the HTML report, `dtctl plot` and `dtctl serve` draw. A renderer computes no figures of its own.
#pragma once

#include "core/record/field.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

// So many rows of a table are in a report, unless a caller asks for another number. 250 rows are about 250 kB of HTML.
inline constexpr std::size_t most_table_rows = 250;

// How a series is drawn.
enum class Mark {
  line,     // points joined by straight lines; a point with an interval has an error bar
  band,     // a line, and the area between low and high around it
  points,   // points alone; a point with an interval has an error bar
  bar,      // bars that begin at 0, in categories
  floating, // bars from low to high, in categories
};

// Whether the figures of a series were measured, simulated or predicted, or are the ideal line. Renderers draw each of them
// differently: filled marks and solid lines are measured, hollow marks and dashed lines are simulated, dotted lines are
// predicted.
enum class Origin { measured, simulated, predicted, ideal };

struct ChartPoint {
  double x = 0;                                   // on an axis with categories: the category's index, from 0
  double y = not_measured;                        // of Mark::floating: unused
  double low = not_measured, high = not_measured; // ends of the interval, the band or the floating bar; NaN: none
  std::string note{};                             // what a tooltip says beside the figures: "5 runs"
  std::string beside{};                           // what stands beside the mark, "2 of 3 runs"; empty: nothing
};

struct Series {
  std::string name;
  Mark mark = Mark::line;
  Origin origin = Origin::measured;
  std::vector<ChartPoint> points{};
  int colour = 0;      // index into the palette; series of the same thing in several charts have the same colour
  std::string label{}; // for programs: the label of the points, as dtctl stores it; empty: the series is about no label
};

enum class AxisScale { linear, log2, log10 };

struct Axis {
  std::string title; // with its unit in brackets: "throughput [samples/s]"
  AxisScale scale = AxisScale::linear;
  bool is_share = false;                 // values are fractions, shown in percent
  std::vector<double> ticks{};           // where ticks are; empty: the renderer decides
  std::vector<std::string> categories{}; // names of the categories; empty: the axis is a scale
  bool from_zero = false;                // the scale contains 0
};

struct Chart {
  std::string id; // unique in a report, of letters, digits and `-`: "efficiency", "waterfall-2"
  std::string title;
  std::string caption; // how to read it: what intervals are, and on how many runs they rest
  Axis x, y;
  std::vector<Series> series{};
  bool is_stacked = false;    // bars of the same category stand on each other
  bool is_horizontal = false; // categories run downwards on the y axis, values to the right; `x` is still the axis of categories
  std::string label{};        // the study's label that the chart is about; empty: all
};

// Charts of one kind, or why there are none.
struct Charts {
  std::vector<Chart> charts{};
  std::string missing{}; // if there are none: the reason and what to do, in sentences
};

// The number of colours of the palette, which people who see no red or no green can tell apart (Okabe and Ito, 2008).
inline constexpr int palette_size = 8;

// "line", "measured", "log2": the words in data for other programs and in pages.
std::string_view name_of(Mark mark);
std::string_view name_of(Origin origin);
std::string_view name_of(AxisScale scale);

} // namespace dt::cli
