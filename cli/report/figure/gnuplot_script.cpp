#include "cli/report/figure/gnuplot_script.hpp"

#include "cli/report/figure/figure_layout.hpp"
#include "cli/report/figure/gnuplot_data.hpp"
#include "cli/report/figure/gnuplot_text.hpp"
#include "cli/report/figure/series_look.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr double png_dots_per_inch = 300, points_per_inch = 72, css_pixels_per_inch = 96;
constexpr int font_pt = 8;               // gnuplot's cairo terminals scale it by 96 / 72
constexpr double cairo_line_width = 1.5; // so that a width of 1 is 0.75 pt, as in the other formats
constexpr double bar_half_width = 0.38;  // of a category
constexpr double headroom = 0.05;        // above the largest value, and below the smallest one
constexpr std::size_t most_marks = 12;   // of a line with many points

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(double value)
  {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

class Script {
 public:
  Script(const Chart& chart, const FigureStyle& style) : chart_(chart), style_(style), layout_(layout_of(chart, style)) {}
  std::string text(const std::string& output) const
  {
    return head(output) + "\n$data << EOD\n" + gnuplot_data(chart_, style_) + "EOD\n\n" + axes() + legend() + line_styles() +
           plot();
  }

 private:
  bool is_terminal() const { return style_.format == FigureFormat::terminal; }
  std::string quoted(std::string_view text) const { return gnuplot_string(text, style_.format); }

  std::string head(const std::string& output) const;
  std::string terminal() const;
  std::string terminal_of_characters() const;

  std::string axes() const;
  std::string category_axis() const;
  std::string value_axis(char name, const Axis& axis, Range range) const;
  std::string lower_axis(Range range) const;
  std::string size_axis() const;
  std::string titles() const;
  Range x_values() const;
  Range y_values() const;

  std::string legend() const;
  std::string line_styles() const;
  std::string plot() const;
  std::string bands() const;
  std::string series_of(std::size_t i) const;
  std::string line_of(std::size_t i) const;
  std::string bar_of(std::size_t i) const;
  std::string intervals_of(std::size_t i) const;
  std::string whiskers_of(std::size_t i) const;
  bool has_intervals(const Series& series) const;
  bool has_band(const Series& series) const;
  // A column of the data, in percent if the axis says so.
  std::string value(int column) const { return chart_.y.is_share ? fmt::format("(${}*100)", column) : std::to_string(column); }
  std::string name_of(std::size_t i) const
  {
    return layout_.has_legend ? "title " + quoted((is_terminal() ? " " : "") + layout_.names[i]) : "notitle";
  }

  const Chart& chart_;
  const FigureStyle& style_;
  FigureLayout layout_;
};

std::string Script::terminal_of_characters() const
{
  const auto size = fmt::format("size {},{} noenhanced {}", style_.width, layout_.lines, style_.has_colour ? "ansi256" : "mono");
  if (!style_.is_utf8) return "set terminal dumb nofeed " + size + "\n";
  return fmt::format("if (strstrt(GPVAL_TERMINALS, 'block') > 0) {{ set terminal block braille {} }} "
                     "else {{ set terminal dumb nofeed {} }}\n",
                     size, size);
}

std::string Script::terminal() const
{
  const double width = layout_.width_in, height = layout_.height_in, magnified = png_dots_per_inch / css_pixels_per_inch;
  switch (style_.format) {
  case FigureFormat::terminal:
    return terminal_of_characters();
  case FigureFormat::pdf:
    return fmt::format("set terminal pdfcairo noenhanced size {}in,{}in font 'Helvetica,{}' fontscale {} linewidth {}\n", width,
                       height, font_pt, points_per_inch / css_pixels_per_inch, cairo_line_width);
  case FigureFormat::tex:
    return fmt::format("set terminal cairolatex pdf input size {}in,{}in font ',{}' linewidth {}\n", width, height, font_pt,
                       cairo_line_width);
  case FigureFormat::png:
    return fmt::format("set terminal pngcairo noenhanced size {:.0f},{:.0f} font 'Helvetica,{}' fontscale {:.4f} "
                       "linewidth {:.4f} pointscale {:.4f}\n",
                       width * png_dots_per_inch, height * png_dots_per_inch, font_pt, magnified, magnified, magnified);
  case FigureFormat::svg:
    break;
  }
  return fmt::format("set terminal svg noenhanced size {:.0f},{:.0f} font 'sans-serif,{:.2f}' linewidth 1\n",
                     width * css_pixels_per_inch, height * css_pixels_per_inch, font_pt * css_pixels_per_inch / points_per_inch);
}

std::string Script::head(const std::string& output) const
{
  std::string text = "# " + gnuplot_comment(chart_.title) + "\n# " + gnuplot_comment(chart_.caption) + "\n";
  text += "set encoding utf8\n" + terminal();
  if (!output.empty()) text += "set output " + gnuplot_string(output, FigureFormat::svg) + "\n";
  return text;
}

Range Script::x_values() const
{
  Range range;
  for (const auto& series : chart_.series)
    for (const auto& point : series.points) range.add(point.x);
  for (const double tick : chart_.x.ticks) range.add(tick);
  return range;
}

Range Script::y_values() const
{
  Range range;
  const auto bars = bar_ends(chart_);
  for (std::size_t i = 0; i < chart_.series.size(); ++i)
    for (std::size_t p = 0; p < chart_.series[i].points.size(); ++p) {
      const auto& point = chart_.series[i].points[p];
      const bool is_floating = chart_.series[i].mark == Mark::floating;
      for (const double one : {is_floating ? bars[i][p].from : point.y, point.low, point.high}) range.add(one);
      if (is_bar(chart_.series[i].mark)) range.add(bars[i][p].to);
    }
  if (chart_.y.is_share) range.low *= 100, range.high *= 100;
  return range;
}

// The ends of a linear axis along the lower side are at ticks, of which there are as many as have room.
std::string Script::lower_axis(Range range) const
{
  const double step = tick_step(range.low, range.high, layout_, style_);
  const double from = std::floor(range.low / step + 1e-9) * step, to = std::ceil(range.high / step - 1e-9) * step;
  return fmt::format("set xrange [{:.6g}:{:.6g}]\nset xtics {:.6g}\n", from, to, step);
}

// Along the left side gnuplot chooses the ticks, but not if there is a single value, of which it would warn.
std::string Script::value_axis(char name, const Axis& axis, Range range) const
{
  auto text = fmt::format("set format {} '%g'\n", name);
  const bool is_linear = axis.scale == AxisScale::linear;
  if (axis.from_zero && is_linear) range.add(0);
  if (!is_linear) text += fmt::format("set logscale {} {}\n", name, axis.scale == AxisScale::log2 ? 2 : 10);
  if (!(range.low < range.high)) {
    const double at = std::isfinite(range.low) ? range.low : 0, around = at == 0 ? 1 : 0.1 * std::abs(at);
    return text + fmt::format("set {}range [{}:{}]\n", name, format_shortest(at - around), format_shortest(at + around));
  }
  if (is_linear && name == 'x') return text + lower_axis(range);
  if (!is_linear) return text;
  const double room = headroom * (range.high - range.low);
  const double low = axis.from_zero && range.low == 0 ? 0 : range.low - room;
  return text + fmt::format("set {}range [{:.6g}:{:.6g}]\n", name, low, range.high + room);
}

// An axis with given ticks.
std::string Script::size_axis() const
{
  const auto& axis = chart_.x;
  const auto values = x_values();
  const bool is_log = axis.scale != AxisScale::linear;
  const double span = is_log ? std::log(values.high / values.low) : values.high - values.low;
  const double margin = span > 0 ? 0.04 * span : is_log ? 0.2 : 0.5;
  const double from = is_log ? values.low * std::exp(-margin) : values.low - margin;
  const double to = is_log ? values.high * std::exp(margin) : values.high + margin;
  const auto labelled = labelled_ticks(axis, from, to, style_);
  std::string ticks;
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const auto tick = format_shortest(axis.ticks[i]);
    ticks += fmt::format("{}'{}' {}{}", i == 0 ? "" : ", ", labelled[i] ? tick : "", tick, labelled[i] ? "" : " 1");
  }
  auto text = fmt::format("set xrange [{:.6g}:{:.6g}]\nset xtics ({})\n", from, to, ticks);
  if (is_log) text += fmt::format("set logscale x {}\n", axis.scale == AxisScale::log2 ? 2 : 10);
  return text;
}

std::string Script::category_axis() const
{
  const char name = layout_.is_horizontal ? 'y' : 'x';
  std::string labels;
  for (std::size_t i = 0; i < layout_.categories.size(); ++i)
    labels += fmt::format("{}{} {}", i == 0 ? "" : ", ", gnuplot_tick_label(layout_.categories[i], style_.format), i);
  const double last = static_cast<double>(layout_.categories.size()) - 0.4;
  auto text = layout_.is_horizontal ? fmt::format("set yrange [{}:-0.6]\n", last) : fmt::format("set xrange [-0.6:{}]\n", last);
  text += fmt::format("set {}tics ({}) scale 0\n", name, labels);
  return text;
}

// A terminal cannot turn the title of the y axis, so it stands above the axis there.
std::string Script::titles() const
{
  std::string text;
  if (!layout_.x_title.empty()) text += "set xlabel " + gnuplot_lines(layout_.x_title, style_.format) + "\n";
  if (layout_.y_title.empty()) return text;
  const auto title = gnuplot_lines(layout_.y_title, style_.format);
  if (is_terminal()) return text + "set label 1 " + title + " at character 1, graph 1 offset 0, 1\n";
  const bool has_two_lines = layout_.y_title.find('\n') != std::string::npos;
  return text + "set ylabel " + title + (has_two_lines ? " offset -1" : "") + "\n";
}

std::string Script::axes() const
{
  std::string text = "set border 3 linewidth 1 linecolor rgb '#333333'\nset tics nomirror out scale 0.5\n";
  const bool has_categories = !layout_.categories.empty();
  const char values = has_categories && layout_.is_horizontal ? 'x' : 'y';
  if (!is_terminal()) text += fmt::format("set grid {}tics linetype 1 linecolor rgb '#dddddd' linewidth 0.5\n", values);
  text += value_axis(values, chart_.y, y_values());
  if (has_categories)
    text += category_axis();
  else if (!chart_.x.ticks.empty())
    text += size_axis();
  else
    text += value_axis('x', chart_.x, x_values());
  return text + titles();
}

// gnuplot estimates how wide texts are, and its estimates differ by terminal: in this share they are too wide for a font of usual
// width.
double excess_width(FigureFormat format)
{
  switch (format) {
  case FigureFormat::pdf:
    return 0.14;
  case FigureFormat::svg:
    return 0.18;
  case FigureFormat::png:
    return 0.05;
  case FigureFormat::tex:
  case FigureFormat::terminal:
    break;
  }
  return 0;
}

// Title and legend stand above the plot, in the middle of the whole figure: a legend can be wider than the plot.
std::string Script::legend() const
{
  const auto line = [&](double lines) { return 1 - lines * layout_.line_share; };
  const double title = layout_.title_lines * 1.2, above = title + layout_.legend_lines + 1;
  auto text = is_terminal() ? fmt::format("set tmargin {}\n", layout_.legend_lines + (layout_.y_title.empty() ? 1 : 2))
                            : fmt::format("set tmargin at screen {:.4f}\n", line(above));
  if (layout_.title_lines > 0)
    text += fmt::format("set label 1 {} at screen 0.5, screen {:.4f} center\n", gnuplot_lines(layout_.title, style_.format),
                        line(0.8));
  if (!layout_.has_legend) return text + "unset key\n";
  const int sample = is_terminal() ? 4 : is_bar(chart_.series.front().mark) ? 1 : 3; // characters
  const auto width = -excess_width(style_.format) * static_cast<double>(layout_.longest_name);
  return text + fmt::format("set key at screen 0.5, screen {:.4f} center top vertical maxrows {} Left reverse samplen {} "
                            "spacing {} width {:.0f}\n",
                            is_terminal() ? 1 : line(title + 0.3), layout_.legend_lines, sample,
                            style_.format == FigureFormat::svg ? 0.85 : 1.1, width);
}

std::string Script::line_styles() const
{
  std::string text;
  for (std::size_t i = 0; i < chart_.series.size(); ++i) {
    const auto look = look_of(chart_.series[i], style_);
    text += fmt::format("set style line {} linecolor {} linewidth {} dashtype {} pointtype {} pointsize {}\n", i + 1, look.colour,
                        look.width, look.dash, look.point, chart_.series[i].points.size() > 60 ? 0.45 : 0.7);
  }
  return text + "set style fill noborder\nset errorbars 0.6\nset pointintervalbox 0.8\n";
}

bool Script::has_intervals(const Series& series) const
{
  return std::any_of(series.points.begin(), series.points.end(),
                     [](const auto& point) { return std::isfinite(point.low) && std::isfinite(point.high); });
}

// A terminal has no shades, so a band of few points becomes error bars there.
bool Script::has_band(const Series& series) const { return series.mark == Mark::band && !is_terminal() && has_intervals(series); }

std::string Script::bands() const
{
  std::string text;
  for (std::size_t i = 0; i < chart_.series.size(); ++i)
    if (has_band(chart_.series[i]))
      text +=
          fmt::format("  $data index {} using 1:{}:{} with filledcurves linecolor {} fillstyle transparent solid 0.2 noborder "
                      "notitle, \\\n",
                      i, value(3), value(4), look_of(chart_.series[i], style_).colour);
  return text;
}

// A negative pointinterval leaves some room around a mark, so that no line runs through a hollow one.
std::string Script::line_of(std::size_t i) const
{
  const auto& series = chart_.series[i];
  const auto base = fmt::format("$data index {} using 1:{} with ", i, value(2));
  if (series.origin == Origin::ideal) return fmt::format("{}lines linestyle {} {}", base, i + 1, name_of(i));
  if (series.mark == Mark::points) return fmt::format("{}points linestyle {} {}", base, i + 1, name_of(i));
  const auto every = static_cast<int>((series.points.size() + most_marks - 1) / most_marks);
  const auto sign = series.origin == Origin::measured ? "" : "-";
  return fmt::format("{}linespoints linestyle {} pointinterval {}{} {}", base, i + 1, sign, std::max(every, 1), name_of(i));
}

std::string Script::bar_of(std::size_t i) const
{
  const auto look = look_of(chart_.series[i], style_);
  if (is_terminal()) return fmt::format("$data index {} using {}:1 with points linestyle {} {}", i, value(2), i + 1, name_of(i));
  const auto across = fmt::format("($1-{}):($1+{})", bar_half_width, bar_half_width);
  const auto along = value(5) + ":" + value(6);
  const auto columns = layout_.is_horizontal ? fmt::format("{}:1:{}:{}", value(6), along, across)
                                             : fmt::format("1:{}:{}:{}", value(6), across, along);
  return fmt::format(
      "$data index {} using {} with boxxyerror linecolor {} linewidth {} dashtype {} fillstyle {} border linecolor {} {}", i,
      columns, look.colour, chart_.series[i].points.size() > 60 ? 0.3 : 1, look.dash, look.fill, look.colour, name_of(i));
}

// Lines with caps, because gnuplot's error bars would be interrupted at the end of the bar.
std::string Script::whiskers_of(std::size_t i) const
{
  const auto length = chart_.y.is_share ? "(($4-$3)*100)" : "($4-$3)";
  const auto columns =
      layout_.is_horizontal ? fmt::format("{}:1:{}:(0)", value(3), length) : fmt::format("1:{}:(0):{}", value(3), length);
  return fmt::format(
      "$data index {} using {} with vectors heads size screen 0.008,90 linecolor rgb '#000000' linewidth 1 notitle", i, columns);
}

// Empty if the series has no intervals, or they are not drawn.
std::string Script::intervals_of(std::size_t i) const
{
  const auto& series = chart_.series[i];
  const bool is_crowded = series.mark == Mark::band && series.points.size() > most_marks;
  if (!has_intervals(series) || has_band(series) || series.mark == Mark::floating || is_crowded) return "";
  if (is_bar(series.mark)) return is_terminal() ? "" : whiskers_of(i);
  return fmt::format("$data index {} using 1:{}:{}:{} with yerrorbars linestyle {} dashtype solid linewidth 1 notitle", i,
                     value(2), value(3), value(4), i + 1);
}

// Error bars lie below marks, but above bars.
std::string Script::series_of(std::size_t i) const
{
  const bool has_bars = is_bar(chart_.series[i].mark);
  const auto series = has_bars ? bar_of(i) : line_of(i), intervals = intervals_of(i);
  if (intervals.empty()) return "  " + series;
  return "  " + (has_bars ? series : intervals) + ", \\\n  " + (has_bars ? intervals : series);
}

std::string Script::plot() const
{
  std::vector<std::string> series;
  for (std::size_t i = 0; i < chart_.series.size(); ++i) series.push_back(series_of(i));
  return "plot \\\n" + bands() + join(series, ", \\\n") + "\n";
}

} // namespace

std::string gnuplot_script(const Chart& chart, const FigureStyle& style, const std::string& output)
{
  return Script(chart, style).text(output);
}

} // namespace dt::cli
