// The waterfall of lost efficiency.
#include "cli/report/chart/charts.hpp"
#include "core/counted.hpp"
#include "store/query/attribution_query.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::array<const char*, store::factor_count> factor_titles{
    "smaller batch",       "contention",          "load imbalance",        "jitter",   "input",
    "time between epochs", "time outside phases", "exposed communication", "queueing", "all causes"};

std::string title_of(const store::Attribution& point, std::size_t factor)
{
  const bool is_together = factor == static_cast<std::size_t>(store::Factor::together) && !point.missing.all_causes();
  if (is_together) return point.missing.communication ? "computation or communication" : "input or communication";
  const bool is_whole_computation = factor == static_cast<std::size_t>(store::Factor::contention) && !point.says_contention();
  if (!is_whole_computation) return factor_titles[factor];
  return point.is_part ? "computation per core" : "computation";
}

// Causes that take or give less are left out, as in the waterfall of `dtctl results --why`.
constexpr double smallest_shown = 0.0005;

std::string point_name(const store::Attribution& point)
{
  if (point.is_part) return counted(point.ranks, "rank") + " per node";
  return store::size_text(point.nodes, point.ranks);
}

std::string baseline_name(const store::Attribution& point)
{
  return point.baseline_size == 0 ? "a machine without any waiting" : fmt::format("size {}", point.baseline_size);
}

// The largest size of a label that was compared with a smaller one. Nothing if a CPU quota held its ranks back: then no factor is
// known.
const store::Attribution* largest(const std::vector<store::Attribution>& points, const std::string& label)
{
  const store::Attribution* found = nullptr;
  for (const auto& point : points)
    if (point.label == label && !point.is_baseline && std::isfinite(point.efficiency)) found = &point;
  return found && found->is_throttled() ? nullptr : found;
}

void add_bar(Series& series, std::size_t category, double from, double to)
{
  const double change = to - from;
  series.points.push_back({static_cast<double>(category), change, std::min(from, to), std::max(from, to),
                           fmt::format("{:+.1f} points", change * 100)});
}

Chart waterfall_of(const ChartSource& source, const store::Attribution& point)
{
  Chart chart{.id = "waterfall",
              .title = fmt::format("Where the efficiency went: {}, {}", legend_name(source, point.label), point_name(point)),
              .caption = fmt::format(
                  "Points of efficiency that each cause takes, relative to {}; {}. Causes below 0.05 points are left out.",
                  baseline_name(point), runs_text(point.runs, point.runs)),
              .x = {},
              .y = {.title = "efficiency", .is_share = true, .from_zero = true},
              .label = point.label};
  Series whole{.name = "efficiency", .mark = Mark::floating, .points = {}, .colour = 0};
  Series lost{.name = "lost", .mark = Mark::floating, .points = {}, .colour = 1};
  Series gained{.name = "gained", .mark = Mark::floating, .points = {}, .colour = 2};
  if (is_simulated(source, point.label)) whole.origin = lost.origin = gained.origin = Origin::simulated;
  chart.x.categories.emplace_back("ideal");
  whole.points.push_back({0, 1, 0, 1, "100 %"});
  double level = 1;
  for (std::size_t factor = 0; factor < store::factor_count; ++factor) {
    const double loss = point.lost[factor];
    if (!std::isfinite(loss) || std::abs(loss) < smallest_shown) continue;
    add_bar(loss >= 0 ? lost : gained, chart.x.categories.size(), level, level - loss);
    chart.x.categories.push_back(title_of(point, factor));
    level -= loss;
  }
  whole.points.push_back({static_cast<double>(chart.x.categories.size()), point.efficiency, 0, point.efficiency,
                          fmt::format("{:.1f} %", point.efficiency * 100)});
  chart.x.categories.push_back(point_name(point));
  chart.series = {std::move(whole), std::move(lost)};
  if (!gained.points.empty()) chart.series.push_back(std::move(gained));
  return chart;
}

} // namespace

Charts waterfall_charts(const ChartSource& source)
{
  return waterfall_charts(source, store::attributions_of_study(source.database, source.study.id));
}

Charts waterfall_charts(const ChartSource& source, const std::vector<store::Attribution>& points)
{
  Charts charts;
  for (const auto& label : source.labels)
    if (const auto* point = largest(points, label)) {
      charts.charts.push_back(waterfall_of(source, *point));
      charts.charts.back().id += fmt::format("-{}", charts.charts.size());
    }
  if (charts.charts.empty())
    charts.missing = "No point has an attribution: that needs succeeded runs that recorded their useful time, and two sizes of a "
                     "label or runs with several ranks. Of runs that a CPU quota held back the causes are not known.";
  return charts;
}

} // namespace dt::cli
