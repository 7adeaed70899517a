#include "cli/report/figure/figure_layout.hpp"

#include "cli/output/layout.hpp"
#include "cli/report/figure/gnuplot_text.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// Of a text of 8 pt. Few fonts are wider.
constexpr double character_in = 0.062, line_in = 0.145;
constexpr std::size_t few_rows = 8;      // of categories: their labels may have three lines
constexpr std::size_t legend_sample = 6; // characters that the sample of a series and the gap to the next one take

bool is_terminal(const FigureStyle& style) { return style.format == FigureFormat::terminal; }

std::size_t characters(const FigureStyle& style)
{
  return is_terminal(style) ? static_cast<std::size_t>(style.width) : static_cast<std::size_t>(width_in(style) / character_in);
}

// Columns that remain for the plot beside the numbers of the y axis.
std::size_t plot_characters(const FigureStyle& style) { return characters(style) - 12; }

// gnuplot cuts the label of a tick after 49 bytes if a % is in it.
constexpr std::size_t longest_percent = 40;
bool is_percent(const std::string& text) { return text.find('%') != std::string::npos; }

std::size_t widest(const std::vector<std::string>& texts)
{
  std::size_t width = 0;
  for (const auto& text : texts)
    for (const auto& line : split(text, '\n')) width = std::max(width, display_width(line));
  return width;
}

int lines_of(const std::string& text)
{
  return text.empty() ? 0 : 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

// Lines of the category that has the most.
int lines_of_each(const std::vector<std::string>& categories)
{
  int lines = 1;
  for (const auto& category : categories) lines = std::max(lines, lines_of(category));
  return lines;
}

std::string shared_beginning(const std::vector<std::string>& texts)
{
  auto shared = texts.front();
  for (const auto& text : texts) {
    const auto end = std::mismatch(shared.begin(), shared.end(), text.begin(), text.end()).first;
    shared.erase(end, shared.end());
  }
  while (!shared.empty() && !is_valid_utf8(shared)) shared.pop_back();
  return shared;
}

// The text in `width` characters, of which the last `tail` are its last ones.
std::string cut(const std::string& text, std::size_t width, std::size_t tail)
{
  if (display_width(text) <= width) return text;
  std::size_t begin = text.size();
  for (std::size_t left = tail; left > 0 && begin > 0; --begin)
    if ((static_cast<unsigned char>(text[begin - 1]) & 0xC0) != 0x80) --left;
  return fit(text, width - tail) + text.substr(begin);
}

bool are_distinct(const std::vector<std::string>& texts, const std::vector<std::string>& cut_texts)
{
  return std::set<std::string>(cut_texts.begin(), cut_texts.end()).size() ==
         std::set<std::string>(texts.begin(), texts.end()).size();
}

std::vector<std::string> all_cut(const std::vector<std::string>& texts, std::size_t width, std::size_t tail)
{
  std::vector<std::string> fits;
  for (const auto& text : texts) fits.push_back(cut(text, width, tail));
  return fits;
}

// The texts in `width` characters. If two become equal by a cut in the middle, the beginning that all share is left out, and the
// cut is moved to where they differ.
std::vector<std::string> shortened(std::vector<std::string> texts, std::size_t width)
{
  const auto middle = (width - 1) / 2;
  auto fits = all_cut(texts, width, middle);
  if (texts.empty() || are_distinct(texts, fits)) return fits;
  if (const auto shared = shared_beginning(texts).size(); shared > 3)
    for (auto& text : texts) text = "…" + text.substr(shared);
  fits = all_cut(texts, width, middle);
  for (std::size_t tail = 0; tail + 2 < width && !are_distinct(texts, fits); ++tail) fits = all_cut(texts, width, tail);
  return fits;
}

// In a terminal, marks and lines do not show that figures were simulated.
std::string name_of(const Series& series, const FigureStyle& style)
{
  const bool says_it = series.origin != Origin::simulated || series.name.find("simulated") != std::string::npos;
  return printable(series.name) + (is_terminal(style) && !says_it ? " (simulated)" : "");
}

void lay_out_legend(FigureLayout& layout, const Chart& chart, const FigureStyle& style)
{
  for (const auto& series : chart.series) layout.names.push_back(name_of(series, style));
  layout.has_legend = chart.series.size() > 1 || std::any_of(chart.series.begin(), chart.series.end(),
                                                             [](const auto& one) { return one.origin != Origin::measured; });
  const auto room = characters(style) - 1;
  const auto sample = is_terminal(style) ? legend_sample + 3 : legend_sample;
  layout.names = shortened(std::move(layout.names), room - sample - (is_terminal(style) ? 0 : 5));
  layout.longest_name = widest(layout.names);
  const auto columns = room / (layout.longest_name + sample);
  const auto fitting = static_cast<int>(std::clamp<std::size_t>(columns, 1, std::max<std::size_t>(layout.names.size(), 1)));
  const auto count = static_cast<int>(layout.names.size());
  if (layout.has_legend) layout.legend_lines = (count + fitting - 1) / fitting;
}

// Each text in at most `most` lines, or in one or two more if two texts would become equal.
std::vector<std::string> in_distinct_lines(const std::vector<std::string>& texts, std::size_t width, int most)
{
  std::vector<std::string> all;
  for (int lines = most; lines <= most + 2; ++lines) {
    all.clear();
    for (const auto& text : texts)
      all.push_back(is_percent(text) ? fit_middle(text, std::min(width, longest_percent)) : in_lines(text, width, lines));
    if (are_distinct(texts, all)) break;
  }
  return all;
}

// Labels of categories that run downwards take up to 45 % of the width.
void lay_out_rows(FigureLayout& layout, const Chart& chart, const FigureStyle& style)
{
  const auto width = characters(style) * 9 / 20;
  std::vector<std::string> labels;
  for (const auto& category : chart.x.categories) labels.push_back(printable(category));
  if (is_terminal(style)) {
    layout.categories = shortened(std::move(labels), width);
  } else {
    layout.categories = in_distinct_lines(labels, width, labels.size() <= few_rows ? 3 : 2);
  }
}

// Whether the labels of categories fit beside each other below the chart, in two lines each.
bool fit_below(const std::vector<std::string>& categories, const FigureStyle& style)
{
  const auto slot = plot_characters(style) / categories.size();
  return slot >= 4 && std::all_of(categories.begin(), categories.end(), [&](const auto& category) {
           const auto label = in_lines(category, slot - 1, 2);
           return label.find("…") == std::string::npos && (!is_percent(label) || label.size() <= longest_percent);
         });
}

void lay_out_columns(FigureLayout& layout, const Chart& chart, const FigureStyle& style)
{
  const auto slot = plot_characters(style) / std::max<std::size_t>(chart.x.categories.size(), 1);
  for (const auto& category : chart.x.categories) layout.categories.push_back(in_lines(category, slot - 1, 2));
}

// Lines of text that the plot and the labels of its categories are high.
double body_lines(const FigureLayout& layout, const FigureStyle& style)
{
  const double plot = style.columns == 2 ? 17 : 13;
  if (layout.categories.empty()) return plot + 1;
  if (layout.is_horizontal) {
    const double line = style.format == FigureFormat::svg ? 1.2 : 0.95; // gnuplot's SVG has more room between lines
    const double each = 0.35 + line * lines_of_each(layout.categories);
    return std::max(4.0, each * static_cast<double>(layout.categories.size())) + 1;
  }
  return plot + 2;
}

std::string title_of(const Axis& axis, std::size_t width)
{
  if (axis.title.empty()) return "";
  return in_lines(axis.title + (axis.is_share ? " [%]" : ""), width, 2);
}

// A title beside a plot may be as long as the plot is high.
std::size_t height_in_characters(double lines) { return static_cast<std::size_t>(lines * line_in / character_in); }

void set_titles(FigureLayout& layout, const Chart& chart, const FigureStyle& style, double body)
{
  const auto& across = layout.is_horizontal ? chart.y : chart.x;
  const auto& upwards = layout.is_horizontal ? chart.x : chart.y;
  layout.x_title = title_of(across, plot_characters(style));
  layout.y_title = title_of(upwards, is_terminal(style) ? characters(style) : height_in_characters(body));
  if (style.has_title && !is_terminal(style)) layout.title = in_lines(chart.title, characters(style) - 2, 2);
}

int terminal_lines(const FigureLayout& layout, const FigureStyle& style)
{
  const int around = layout.legend_lines + (layout.y_title.empty() ? 5 : 6);
  if (layout.categories.empty()) return std::max(16, style.height);
  return std::max(8, static_cast<int>(layout.categories.size()) * (layout.categories.size() <= 6 ? 2 : 1) + 1) + around;
}

} // namespace

double width_in(const FigureStyle& style) { return style.columns == 2 ? 7.16 : 3.5; }

FigureLayout layout_of(const Chart& chart, const FigureStyle& style)
{
  FigureLayout layout;
  const auto& categories = chart.x.categories;
  layout.is_horizontal = !categories.empty() && (chart.is_horizontal || is_terminal(style) || !fit_below(categories, style));
  lay_out_legend(layout, chart, style);
  if (layout.is_horizontal)
    lay_out_rows(layout, chart, style);
  else
    lay_out_columns(layout, chart, style);
  const double body = body_lines(layout, style);
  set_titles(layout, chart, style, body);
  layout.title_lines = lines_of(layout.title);
  const double around = style.format == FigureFormat::svg ? 2.5 : 1.5;
  const double titles = 1.2 * (layout.title_lines + lines_of(layout.x_title));
  layout.width_in = width_in(style);
  layout.height_in = std::round((body + titles + layout.legend_lines + around) * line_in * 20) / 20; // in steps of 0.05 in
  layout.lines = terminal_lines(layout, style);
  layout.line_share = is_terminal(style) ? 1.0 / layout.lines : line_in / layout.height_in;
  return layout;
}

double tick_step(double from, double to, const FigureLayout& layout, const FigureStyle& style)
{
  const auto beside = layout.is_horizontal ? widest(layout.categories) : 0;
  const double room = static_cast<double>(plot_characters(style) - beside);
  for (double power = std::pow(10, std::floor(std::log10(to - from)) - 2);; power *= 10)
    for (const double factor : {1, 2, 5}) {
      const double step = factor * power;
      const double ticks = std::ceil(to / step) - std::floor(from / step) + 1;
      const auto label =
          std::max(fmt::format("{:.6g}", std::ceil(to / step) * step - step).size(), fmt::format("{:.6g}", from).size());
      if (ticks <= 9 && ticks * (static_cast<double>(label) + 2) <= room + 4) return step;
      if (ticks <= 2) return step;
    }
}

std::vector<bool> labelled_ticks(const Axis& axis, double from, double to, const FigureStyle& style)
{
  const auto at = [&](double x) { return axis.scale == AxisScale::linear ? x : std::log(x); };
  const auto middle = [&](double x) {
    return (at(x) - at(from)) / (at(to) - at(from)) * static_cast<double>(plot_characters(style));
  };
  const auto half = [](double x) { return static_cast<double>(format_shortest(x).size()) / 2 + 0.5; };
  std::vector<bool> labelled(axis.ticks.size(), false);
  if (labelled.empty()) return labelled;
  const double last = middle(axis.ticks.back()) - half(axis.ticks.back());
  double free_from = -INFINITY;
  for (std::size_t i = 0; i < axis.ticks.size(); ++i) {
    const double begin = middle(axis.ticks[i]) - half(axis.ticks[i]), end = middle(axis.ticks[i]) + half(axis.ticks[i]);
    labelled[i] = i + 1 == axis.ticks.size() || (begin >= free_from && end <= last);
    if (labelled[i]) free_from = end;
  }
  return labelled;
}

} // namespace dt::cli
