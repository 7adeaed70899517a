#include "cli/report/figure/gnuplot_data.hpp"

#include "cli/report/figure/chart_values.hpp"
#include "cli/report/figure/gnuplot_text.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace dt::cli {
namespace {

std::string number(double value) { return std::isfinite(value) ? format_shortest(value) : "NaN"; }

std::string comment_of(const Chart& chart, const ChartPoint& point)
{
  const auto index = static_cast<std::size_t>(point.x);
  std::string text = index < chart.x.categories.size() ? chart.x.categories[index] : "";
  if (!point.note.empty()) text += (text.empty() ? "" : ": ") + point.note;
  return text.empty() ? "" : " # " + gnuplot_comment(text);
}

std::string line_of(const Chart& chart, const Series& series, const ChartPoint& point, const BarEnds& bar)
{
  auto line = fmt::format("{} {} {} {}", number(point.x), number(point.y), number(point.low), number(point.high));
  if (is_bar(series.mark)) line += fmt::format(" {} {}", number(bar.from), number(bar.to));
  return line + comment_of(chart, point) + "\n";
}

double largest_end(const std::vector<std::vector<BarEnds>>& all)
{
  double largest = 0;
  for (const auto& series : all)
    for (const auto& bar : series) largest = std::max({largest, std::abs(bar.from), std::abs(bar.to)});
  return largest;
}

// At least a letter, also for a bar that is shorter than one.
std::string letters_of(double x, const BarEnds& bar, double step)
{
  std::string lines;
  const auto count = std::max(1, static_cast<int>(std::lround((bar.to - bar.from) / step)));
  if (bar.to > bar.from)
    for (int i = 0; i < count; ++i)
      lines += fmt::format("{} {}\n", number(x), number(bar.from + (bar.to - bar.from) * (i + 0.5) / count));
  return lines;
}

std::string letters_of(const Series& series, const std::vector<BarEnds>& bars, double step)
{
  std::string lines;
  for (std::size_t i = 0; i < bars.size(); ++i) lines += letters_of(series.points[i].x, bars[i], step);
  return lines.empty() ? "NaN NaN\n" : lines; // gnuplot warns of a block without a line
}

} // namespace

bool is_bar(Mark mark) { return mark == Mark::bar || mark == Mark::floating; }

std::vector<std::vector<BarEnds>> bar_ends(const Chart& chart)
{
  std::vector<std::vector<BarEnds>> all;
  std::map<double, double> tops; // of the bars so far, by category
  for (const auto& series : chart.series) {
    auto& ends = all.emplace_back();
    for (const auto& point : series.points) {
      if (series.mark == Mark::floating) {
        ends.push_back({point.low, point.high});
        continue;
      }
      const double from = chart.is_stacked ? tops[point.x] : 0;
      ends.push_back({from, from + point.y});
      tops[point.x] = from + point.y;
    }
  }
  return all;
}

std::string gnuplot_data(const Chart& chart, const FigureStyle& style)
{
  const auto bars = bar_ends(chart);
  const double step = largest_end(bars) / (1.5 * style.width);
  std::string text;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const auto& series = chart.series[i];
    text += fmt::format("{}# series {}: {}, {}\n", i == 0 ? "" : "\n\n", i, name_of(series.origin), gnuplot_comment(series.name));
    if (style.format == FigureFormat::terminal && is_bar(series.mark))
      text += letters_of(series, bars[i], step);
    else
      for (std::size_t p = 0; p < series.points.size(); ++p) text += line_of(chart, series, series.points[p], bars[i][p]);
  }
  return text;
}

} // namespace dt::cli
