// Charts of efficiency and speed-up over the size.
#include "cli/report/chart/charts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace dt::cli {
namespace {

constexpr const char* interval_note = "Error bars are 95 % intervals and need 3 runs of the size and of its baseline.";

std::vector<double> sizes_of(const ChartSource& source)
{
  std::vector<double> sizes;
  for (const auto& point : source.scaling)
    if (std::isfinite(point.efficiency)) sizes.push_back(static_cast<double>(point.size));
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

Charts scaling_chart(const ChartSource& source, Chart chart, const ToPoint& to_point, const std::function<double(double)>& ideal)
{
  const auto sizes = sizes_of(source);
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
  Series line{.name = "ideal", .mark = Mark::line, .origin = Origin::ideal, .points = {}, .colour = 0};
  for (const double size : sizes) line.points.push_back({size, ideal(size)});
  chart.series.push_back(std::move(line));
  chart.caption += drawn_note(source);
  return {{std::move(chart)}, ""};
}

bool is_partition(const ChartSource& source) { return store::sizes_of_kind(source.study.kind) == store::StudySizes::parts; }

// S = E N, in a partition study E.
double speedup_factor(const ChartSource& source, const store::ScalingRow& row)
{
  return is_partition(source) ? 1 : static_cast<double>(row.size);
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
  const auto to_point = [](const store::ScalingRow& row) {
    return ChartPoint{static_cast<double>(row.size), row.efficiency, row.efficiency_low, row.efficiency_high,
                      runs_text(row.succeeded, row.runs)};
  };
  return scaling_chart(source, std::move(chart), to_point, [](double) { return 1.0; });
}

Charts speedup_chart(const ChartSource& source)
{
  Chart chart{.id = "speedup",
              .title = "Speed-up",
              .caption = std::string(is_partition(source) ? "Equal to the efficiency, because the cores are the same. "
                                                          : "Efficiency times the size. ") +
                         interval_note,
              .x = {},
              .y = {.title = "speed-up", .from_zero = true}};
  const auto to_point = [&](const store::ScalingRow& row) {
    const double factor = speedup_factor(source, row);
    return ChartPoint{static_cast<double>(row.size), row.speedup, row.efficiency_low * factor, row.efficiency_high * factor,
                      runs_text(row.succeeded, row.runs)};
  };
  return scaling_chart(source, std::move(chart), to_point, [&](double size) { return is_partition(source) ? 1.0 : size; });
}

} // namespace dt::cli
