// Charts of what a point costs: time to the target, and time against node-hours and against energy.
#include "cli/report/chart/charts.hpp"
#include "core/maths/statistics.hpp"
#include "core/text.hpp"
#include "store/analysis/verdict/best_points.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::size_t most_bars = 24;

// The points of the drawn labels.
std::vector<store::ComparedPoint> drawn_points(const ChartSource& source)
{
  std::vector<store::ComparedPoint> points;
  std::copy_if(source.compared.begin(), source.compared.end(), std::back_inserter(points),
               [&](const auto& point) { return is_drawn(source, point.candidate); });
  return points;
}

Origin origin_of(const store::ComparedPoint& point)
{
  return !point.runs.empty() && !point.runs.front().platform.empty() ? Origin::simulated : Origin::measured;
}

// Times to the target of the runs that reached it, ascending.
std::vector<double> times_to_target(const store::ComparedPoint& point)
{
  std::vector<double> times;
  for (const auto& run : point.runs)
    if (run.has_trained() && !run.is_control && run.target_accuracy > 0 && run.time_to_accuracy_s > 0 &&
        std::isfinite(run.time_to_accuracy_s))
      times.push_back(run.time_to_accuracy_s);
  std::sort(times.begin(), times.end());
  return times;
}

struct TargetBar {
  const store::ComparedPoint* point;
  std::vector<double> times;
  store::PricedPoint priced;
};

// Points of which at least half of the runs reached the target, the fastest first.
std::vector<TargetBar> target_bars(const std::vector<store::ComparedPoint>& points, const std::vector<store::PricedPoint>& priced)
{
  std::vector<TargetBar> bars;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (std::isfinite(priced[i].figure(store::Metric::time_to_target)))
      bars.push_back({&points[i], times_to_target(points[i]), priced[i]});
  std::stable_sort(bars.begin(), bars.end(), [](const auto& a, const auto& b) {
    return a.priced.figure(store::Metric::time_to_target) < b.priced.figure(store::Metric::time_to_target);
  });
  return bars;
}

// Names the points that have a target and no bar; empty if there are none.
std::string missed_note(const std::vector<store::ComparedPoint>& points, const std::vector<store::PricedPoint>& priced)
{
  std::vector<std::string> missed;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (priced[i].with_target > 0 && !std::isfinite(priced[i].figure(store::Metric::time_to_target)))
      missed.push_back(fmt::format("{} ({} of {})", store::title_of(points[i]), priced[i].reached, priced[i].with_target));
  return missed.empty() ? "" : " Not drawn, because most of their runs missed the target: " + join(missed, ", ") + ".";
}

// "2 of 3 runs", if not all runs of the point reached the target; else empty.
std::string share_that_reached(const store::PricedPoint& priced)
{
  return priced.reached < priced.with_target ? fmt::format("{} of {} runs", priced.reached, priced.with_target) : "";
}

// Says what stands beside marks, if anything does.
std::string beside_note(const Chart& chart)
{
  const auto is_marked = [](const ChartPoint& point) { return !point.beside.empty(); };
  const bool any = std::any_of(chart.series.begin(), chart.series.end(), [&](const Series& series) {
    return std::any_of(series.points.begin(), series.points.end(), is_marked);
  });
  return any ? " Where not all runs reached the target, the mark says how many did." : "";
}

void add(Chart& chart, const TargetBar& bar, int colour)
{
  ChartPoint point{.x = static_cast<double>(chart.x.categories.size()),
                   .y = bar.priced.figure(store::Metric::time_to_target),
                   .note = fmt::format("{} of {} runs reached the target", bar.priced.reached, bar.priced.with_target),
                   .beside = share_that_reached(bar.priced)};
  if (bar.times.size() > 1) point.low = bar.times.front(), point.high = bar.times.back();
  chart.x.categories.push_back(store::title_of(*bar.point));
  const auto origin = origin_of(*bar.point);
  auto& all = chart.series;
  auto series = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.origin == origin; });
  if (series == all.end())
    series = all.insert(all.end(), {.name = origin == Origin::simulated ? "simulated" : "measured",
                                    .mark = Mark::bar,
                                    .origin = origin,
                                    .points = {},
                                    .colour = colour});
  series->points.push_back(std::move(point));
}

// The time on the y axis of the Pareto charts: to the target accuracy, or of the whole run.
struct Time {
  bool to_target = false;
  double of(const store::PricedPoint& priced, const store::ComparedPoint& point) const
  {
    if (to_target) return priced.figure(store::Metric::time_to_target);
    store::Candidate times;
    for (const auto& run : point.runs)
      if (run.succeeded && !run.is_control && run.wall_s > 0) times.values.push_back(run.wall_s);
    return store::centre_of(times, store::Scale::ratio);
  }
};

double node_hours_of(const store::PricedPoint& priced, const store::ComparedPoint&, Time)
{
  return priced.figure(store::Metric::node_hours);
}

// Joules of a run at its mean power, to the target or as a whole, as the time is. NaN: no run's energy was measured.
double joules_of(const store::PricedPoint&, const store::ComparedPoint& point, Time time)
{
  store::Candidate joules;
  for (const auto& run : point.runs) {
    if (!run.succeeded || run.is_control || (time.to_target && run.has_diverged)) continue;
    const double samples = time.to_target ? run.samples_to_accuracy : run.throughput * run.wall_s;
    const bool has_missed = time.to_target && samples == 0;
    const double value = has_missed ? std::numeric_limits<double>::infinity() : run.joules_per_sample * samples;
    if (value > 0 && !std::isnan(run.joules_per_sample)) joules.values.push_back(value);
  }
  return store::centre_of(joules, time.to_target ? store::Scale::time_to_target : store::Scale::ratio);
}

// A cost on the x axis, against which the chart shows the time: node-hours or energy.
struct Cost {
  std::string_view id, words, axis;
  double (*of)(const store::PricedPoint&, const store::ComparedPoint&, Time);
};

// The points of one label.
Series pareto_series(const ChartSource& source, const std::string& label, int colour,
                     const std::vector<store::ComparedPoint>& points, const std::vector<store::PricedPoint>& priced, Time time,
                     const Cost& cost)
{
  Series series{.name = legend_name(source, label), .mark = Mark::points, .points = {}, .colour = colour, .label = label};
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].candidate != label) continue;
    const double x = cost.of(priced[i], points[i], time), y = time.of(priced[i], points[i]);
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    series.origin = origin_of(points[i]);
    series.points.push_back(
        {x, y, not_measured, not_measured, store::title_of(points[i]), time.to_target ? share_that_reached(priced[i]) : ""});
  }
  return series;
}

// The points that no other point is at least as good as in both and better in one, as a line. Simulated points do not compete
// with measured ones.
Series best_line(const std::vector<Series>& all)
{
  const bool has_measured =
      std::any_of(all.begin(), all.end(), [](const auto& series) { return series.origin == Origin::measured; });
  std::vector<ChartPoint> points;
  for (const auto& series : all)
    if (!has_measured || series.origin == Origin::measured)
      points.insert(points.end(), series.points.begin(), series.points.end());
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& a, const auto& b) { return std::pair(a.x, a.y) < std::pair(b.x, b.y); });
  Series line{.name = "best: no point beats it in both", .mark = Mark::line, .origin = Origin::ideal, .points = {}, .colour = 0};
  for (auto& point : points) {
    if (!line.points.empty() && point.y >= line.points.back().y) continue;
    point.beside.clear(); // it stands beside the point itself
    line.points.push_back(point);
  }
  return line;
}

Charts time_against(const ChartSource& source, const Cost& cost)
{
  const auto points = drawn_points(source);
  const auto priced = store::priced_points(points);
  const Time time{std::any_of(priced.begin(), priced.end(),
                              [](const auto& p) { return std::isfinite(p.figure(store::Metric::time_to_target)); })};
  Chart chart{.id = std::string(cost.id),
              .title = fmt::format("Time against {}", cost.words),
              .caption =
                  fmt::format("Geometric means over the repeats; where a run missed the target, the median of the times. The "
                              "line joins the points that no other point beats in both time and {}.",
                              cost.words) +
                  (time.to_target ? missed_note(points, priced) : "") + drawn_note(source),
              .x = {.title = std::string(cost.axis), .from_zero = true},
              .y = {.title = time.to_target ? "time to the target [s]" : "time of a run [s]", .from_zero = true}};
  int colour = 0;
  for (const auto& label : source.labels) {
    auto series = pareto_series(source, label, colour++, points, priced, time, cost);
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) return {};
  chart.series.push_back(best_line(chart.series));
  chart.caption += beside_note(chart);
  return {{std::move(chart)}, ""};
}

} // namespace

Charts target_chart(const ChartSource& source)
{
  const auto points = drawn_points(source);
  const auto priced = store::priced_points(points);
  const auto bars = target_bars(points, priced);
  if (bars.empty())
    return {{},
            "No point has a time to a target accuracy: that needs train.target_accuracy in the recipe, and at least half of a "
            "point's runs that reach it."};
  Chart chart{.id = "target",
              .title = "Time to the target accuracy",
              .caption = "Bar: geometric mean over the repeats; where a run missed the target the median, in which a miss is "
                         "infinite. Line: from the fastest to the slowest run that reached it." +
                         missed_note(points, priced) + drawn_note(source),
              .x = {},
              .y = {.title = "time to the target [s]", .from_zero = true},
              .is_horizontal = true};
  if (bars.size() > most_bars) chart.caption += fmt::format(" Drawn: the {} fastest of {} points.", most_bars, bars.size());
  for (std::size_t i = 0; i < std::min(bars.size(), most_bars); ++i) add(chart, bars[i], 0);
  chart.caption += beside_note(chart);
  return {{std::move(chart)}, ""};
}

Charts pareto_chart(const ChartSource& source)
{
  auto charts = time_against(source, {"pareto", "node-hours", "node-hours of a run", node_hours_of});
  if (charts.charts.empty()) charts.missing = "No succeeded run has a time, so there is nothing to weigh.";
  return charts;
}

Charts energy_chart(const ChartSource& source)
{
  auto charts = time_against(source, {"energy", "energy", "energy of a run in that time [J]", joules_of});
  if (charts.charts.empty())
    charts.missing = "No succeeded run has a time and an energy. dtctl show says of a run why its energy is not known.";
  return charts;
}

} // namespace dt::cli
