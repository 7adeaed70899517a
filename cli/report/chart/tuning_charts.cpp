// Draws the cost of each setting that a search of study.tune has tried, and marks the settings that it chose.
#include "cli/report/chart/charts.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/runs/tuned_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// A point whose search has asked for runs, and its name in the legend.
struct Curve {
  TunedPoint point;
  std::string name;
};

std::size_t place_of(const ChartSource& source, const std::string& label)
{
  return static_cast<std::size_t>(std::ranges::find(source.labels, label) - source.labels.begin());
}

// At most as many as readers can tell apart, those of the largest sizes, in the order of the labels in all charts.
std::vector<Curve> curves_of(const ChartSource& source, std::vector<TunedPoint> points)
{
  const auto size = [](const TunedPoint& point) { return std::pair(point.ranks, point.nodes); };
  const bool has_sizes = std::ranges::adjacent_find(points, std::ranges::not_equal_to(), size) != points.end();
  std::ranges::stable_sort(points, std::ranges::greater(), size);
  if (points.size() > most_labels) points.erase(points.begin() + most_labels, points.end());
  std::ranges::stable_sort(points, {},
                           [&](const auto& point) { return std::tuple(place_of(source, point.series), size(point)); });
  std::vector<Curve> curves;
  for (auto& point : points) {
    auto name = legend_name(source, point.series);
    if (has_sizes) name += ", " + store::size_text(point.nodes, point.ranks);
    curves.push_back({std::move(point), std::move(name)});
  }
  return curves;
}

// Returns the text of the tooltip of a run: its number in the search and, if two keys are tuned, the value of the other key.
std::string note_of(const TunedPoint& point, std::size_t trial, std::size_t key)
{
  auto note = fmt::format("run {} of the search", trial + 1);
  for (std::size_t k = 0; k < point.keys.size(); ++k)
    if (k != key)
      note += fmt::format(", {} {}", point.keys[k].path, tuned_text(point.keys[k], point.search.trials[trial].setting[k]));
  return note;
}

// The smallest and the largest x or y of all points; infinite and 0 without points.
std::pair<double, double> ends_of(const std::vector<Series>& all, double ChartPoint::*coordinate)
{
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const auto& series : all)
    for (const auto& point : series.points) low = std::min(low, point.*coordinate), high = std::max(high, point.*coordinate);
  return {low, high};
}

// The height of a row above all costs of a chart; the rows are equally far apart.
double height_of(std::size_t row, std::pair<double, double> costs, AxisScale scale)
{
  const auto [low, high] = costs;
  const double share = 0.07 * (static_cast<double>(row) + 1);
  if (!(low < high)) return (high > 0 ? high : 1) * (1 + share);
  return scale == AxisScale::linear ? high + share * (high - low) : high * std::pow(high / low, share);
}

// The key's place among those of the point. The strategy of a candidate may not read a key that others have.
std::optional<std::size_t> key_of(const TunedPoint& point, const std::string& path)
{
  const auto found = std::ranges::find(point.keys, path, &TunedKey::path);
  return found == point.keys.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - point.keys.begin()));
}

Series curve_series(const ChartSource& source, const Curve& curve, std::size_t key, int colour)
{
  const auto& [point, name] = curve;
  Series series{.name = name,
                .mark = point.keys.size() == 1 ? Mark::line : Mark::points,
                .origin = is_simulated(source, point.series) ? Origin::simulated : Origin::measured,
                .points = {},
                .colour = colour,
                .label = point.series};
  for (std::size_t i = 0; i < point.search.costs.size(); ++i)
    if (const auto cost = point.search.costs[i]; cost && std::isfinite(*cost))
      series.points.push_back({point.search.trials[i].setting[key], *cost, not_measured, not_measured, note_of(point, i, key)});
  std::ranges::sort(series.points, {}, [](const ChartPoint& at) { return std::pair(at.x, at.y); });
  return series;
}

void add_without_cost(Series& series, const Curve& curve, std::size_t key, double y)
{
  const auto& search = curve.point.search;
  for (std::size_t i = 0; i < search.costs.size(); ++i)
    if (search.costs[i] && !std::isfinite(*search.costs[i]))
      series.points.push_back(
          {search.trials[i].setting[key], y, not_measured, not_measured, curve.name + ", " + note_of(curve.point, i, key)});
}

void add_chosen(Series& series, const Curve& curve, std::size_t key)
{
  const auto& [point, name] = curve;
  if (!point.is_tuned()) return;
  const double value = (*point.search.best)[key];
  series.points.push_back(
      {value, point.search.cost, not_measured, not_measured, fmt::format("{}: {}", name, tuned_text(point.keys[key], value))});
}

// Powers of two, or of ten with their doubles and fives, from the last one below all values to the first one above.
std::vector<double> log_ticks(const std::vector<Series>& all, AxisScale scale)
{
  const auto [low, high] = ends_of(all, &ChartPoint::x);
  const auto factors = scale == AxisScale::log2 ? std::vector<double>{1} : std::vector<double>{1, 2, 5};
  const double base = scale == AxisScale::log2 ? 2 : 10;
  std::vector<double> ticks;
  for (double power = std::floor(std::log(low) / std::log(base)); ticks.empty() || ticks.back() < high; ++power)
    for (const double factor : factors) {
      const double tick = factor * std::pow(base, power);
      if (tick <= low) ticks.clear();
      if (ticks.empty() || ticks.back() < high) ticks.push_back(tick);
    }
  return ticks;
}

std::string_view cost_title(Metric metric)
{
  if (metric == Metric::accuracy) return "error";
  if (metric == Metric::time_to_target) return "time to the target [s]";
  return store::metric_row(metric).words;
}

Chart chart_of(const ChartSource& source, const std::vector<Curve>& curves, const TunedKey& key, Metric metric)
{
  Chart chart{.id = "tuning",
              .title = "Tuning of " + key.path,
              .caption = "Each mark is a run of a search. The chosen values stand at the cost that the search expects there.",
              .x = {.title = key.path,
                    .scale = !key.is_logarithmic ? AxisScale::linear
                             : key.is_integer    ? AxisScale::log2
                                                 : AxisScale::log10},
              .y = {.title = std::string(cost_title(metric))}};
  std::vector<std::pair<const Curve*, std::size_t>> drawn;
  for (const auto& curve : curves)
    if (const auto place = key_of(curve.point, key.path)) {
      chart.series.push_back(curve_series(source, curve, *place, static_cast<int>(drawn.size())));
      drawn.emplace_back(&curve, *place);
    }
  const auto costs = ends_of(chart.series, &ChartPoint::y);
  chart.y.scale = costs.second > 5 * costs.first ? AxisScale::log10 : AxisScale::linear;
  Series chosen{.name = "chosen", .mark = Mark::points, .origin = Origin::predicted, .points = {}, .colour = 6};
  Series without{.name = "no cost", .mark = Mark::points, .points = {}, .colour = 7};
  bool has_two_keys = false;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const auto& [curve, place] = drawn[i];
    add_chosen(chosen, *curve, place);
    add_without_cost(without, *curve, place, height_of(drawn.size() - 1 - i, costs, chart.y.scale));
    has_two_keys = has_two_keys || curve->point.keys.size() > 1;
  }
  if (has_two_keys)
    chart.caption += " The marks also differ in the other key: the lowest one at a value is the best that was found with it.";
  if (!without.points.empty())
    chart.caption += std::string(" Runs without a cost stand above all others: they diverged, missed the target or were ended "
                                 "early because they were far behind.") +
                     (drawn.size() > 1 ? " Each curve has a row of its own there, in the order of the legend." : "");
  std::erase_if(chart.series, [](const Series& series) { return series.points.empty(); });
  for (auto* series : {&chosen, &without})
    if (!series->points.empty()) chart.series.push_back(std::move(*series));
  if (!chart.series.empty() && chart.x.scale != AxisScale::linear) chart.x.ticks = log_ticks(chart.series, chart.x.scale);
  return chart;
}

} // namespace

Charts tuning_charts(const ChartSource& source)
{
  const auto record = record_of(source.home, source.study);
  auto points = tuned_points_of(record, source.runs);
  std::erase_if(points, [](const TunedPoint& point) {
    return std::ranges::none_of(point.search.costs, [](const auto& cost) { return cost.has_value(); });
  });
  if (points.empty()) return {{}, "No run of a search has ended: a study is tuned if its recipe has study.tune."};
  std::map<std::string, TunedKey> keys;
  for (const auto& point : points)
    for (const auto& key : point.keys) keys.emplace(key.path, key);
  const auto all = points.size();
  const auto curves = curves_of(source, std::move(points));
  Charts charts;
  for (const auto& [path, key] : keys) {
    auto chart = chart_of(source, curves, key, metric_of(record->tune));
    if (keys.size() > 1) chart.id += fmt::format("-{}", charts.charts.size() + 1);
    if (curves.size() < all)
      chart.caption += fmt::format(" Drawn: {} of {} points, those of the largest sizes.", curves.size(), all);
    if (!chart.series.empty()) charts.charts.push_back(std::move(chart));
  }
  return charts;
}

} // namespace dt::cli
