// Charts of efficiency and speed-up over the size.
#include "cli/report/chart/charts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr const char* interval_note = "Error bars are 95 % intervals and need 3 runs of the size and of its baseline.";

std::vector<double> sizes_of(const ChartSource& source)
{
  std::vector<double> sizes;
  for (const auto& point : source.scaling)
    if (std::isfinite(point.efficiency)) sizes.push_back(drawn_size(source, point));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

// An axis of sizes, with a tick at each. A logarithmic one where sizes double.
Axis size_axis(const ChartSource& source, const std::vector<double>& sizes)
{
  Axis axis{.title = size_title(source), .ticks = sizes};
  if (sizes.size() > 2 && sizes.back() / sizes.front() >= 8) axis.scale = AxisScale::log2;
  return axis;
}

using ToPoint = std::function<ChartPoint(const store::ScalingRow&)>;

Series series_of(const ChartSource& source, const std::string& label, int colour, const ToPoint& to_point)
{
  Series series{.name = legend_name(source, label),
                .mark = Mark::line,
                .origin = is_simulated(source, label) ? Origin::simulated : Origin::measured,
                .colour = colour,
                .label = label};
  for (const auto& row : source.scaling)
    if (row.label == label && std::isfinite(row.efficiency)) series.points.push_back(to_point(row));
  return series;
}

// The smallest sizes of the drawn labels, with which their other sizes were compared.
std::set<double> baselines_of(const ChartSource& source)
{
  std::set<double> baselines;
  for (const auto& row : source.scaling) {
    const bool is_baseline = std::isfinite(row.efficiency) && row.size == row.baseline_size;
    if (is_baseline && is_drawn(source, row.label)) baselines.insert(drawn_size(source, row));
  }
  return baselines;
}

Series ideal_line(std::string name)
{
  return {.name = std::move(name), .mark = Mark::line, .origin = Origin::ideal, .points = {}};
}

// The efficiency of a point that loses nothing.
std::vector<Series> ideal_efficiency(const std::vector<double>& sizes)
{
  auto line = ideal_line("ideal");
  for (const double size : sizes) line.points.push_back({size, 1});
  return {std::move(line)};
}

// N / N0: a line for each N0 of the drawn labels.
std::vector<Series> ideal_speedups(const std::set<double>& baselines, const std::vector<double>& sizes)
{
  std::vector<Series> lines;
  for (const double baseline : baselines) {
    lines.push_back(ideal_line(baselines.size() == 1 ? "ideal" : fmt::format("ideal from {:.0f}", baseline)));
    for (const double size : sizes)
      if (size >= baseline) lines.back().points.push_back({size, size / baseline});
  }
  return lines;
}

Charts scaling_chart(const ChartSource& source, Chart chart, const ToPoint& to_point)
{
  const auto sizes = sizes_of(source);
  const auto copies = std::ranges::find_if(source.scaling, [](const auto& point) { return point.copies > 0; });
  if (sizes.empty() && copies != source.scaling.end()) return {{}, "No size has an efficiency: " + copies->why_copies + "."};
  if (sizes.empty())
    return {{},
            "No size has an efficiency: that needs succeeded runs of at least one label at two sizes, for example with "
            "`study: {mode: strong, ranks: [1, 2, 4]}`."};
  chart.x = size_axis(source, sizes);
  if (!chart.y.is_share) chart.y.scale = chart.x.scale; // on equal scales the ideal line is straight
  int colour = 0;
  for (const auto& label : source.labels) {
    auto series = series_of(source, label, colour++, to_point);
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  // In a partition study the ideal is that the throughput stays.
  const bool is_flat = chart.y.is_share || is_partition(source);
  for (auto& line : is_flat ? ideal_efficiency(sizes) : ideal_speedups(baselines_of(source), sizes))
    chart.series.push_back(std::move(line));
  chart.caption += drawn_note(source);
  return {{std::move(chart)}, ""};
}

} // namespace

Charts efficiency_chart(const ChartSource& source)
{
  Chart chart{.id = "efficiency",
              .title = "Scaling efficiency",
              .caption =
                  std::string(is_partition(source) ? "Throughput of the same cores, relative to the fewest ranks per node. "
                                                   : "Throughput per worker, relative to the smallest size of the same label. ") +
                  interval_note,
              .x = {},
              .y = {.title = "efficiency", .is_share = true, .from_zero = true}};
  const auto to_point = [&](const store::ScalingRow& row) {
    return ChartPoint{drawn_size(source, row), row.efficiency, row.efficiency_low, row.efficiency_high,
                      runs_text(row.succeeded, row.runs)};
  };
  return scaling_chart(source, std::move(chart), to_point);
}

Charts speedup_chart(const ChartSource& source)
{
  Chart chart{.id = "speedup",
              .title = "Speed-up",
              .caption = std::string("Throughput relative to the smallest size of the same label. ") + interval_note,
              .x = {},
              .y = {.title = "speed-up", .from_zero = true}};
  const auto to_point = [&](const store::ScalingRow& row) {
    const double of_ideal = row.speedup / row.efficiency;
    return ChartPoint{drawn_size(source, row), row.speedup, row.efficiency_low * of_ideal, row.efficiency_high * of_ideal,
                      runs_text(row.succeeded, row.runs)};
  };
  return scaling_chart(source, std::move(chart), to_point);
}

} // namespace dt::cli
