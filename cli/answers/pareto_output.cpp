#include "cli/answers/pareto_output.hpp"

#include "cli/output/label_columns.hpp"
#include "core/counted.hpp"
#include "store/analysis/verdict/best_points.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

namespace dt::cli {
namespace {

using store::Metric;
using store::PricedPoint;

// Adds "(2/3)" if one of three runs missed the target, and "(1 diverged)".
Cell with_misses(Cell cell, const PricedPoint& point)
{
  if (point.diverged > 0) {
    cell.text += fmt::format(" ({} diverged)", point.diverged);
    cell.style = Style::warning;
  }
  if (point.reached == point.with_target) return cell;
  cell.text += fmt::format(" ({}/{})", point.reached, point.with_target);
  cell.style = Style::warning;
  return cell;
}

// "3", or "3/6" if three of six runs have succeeded.
Cell run_count_cell(const PricedPoint& point)
{
  const auto runs = static_cast<std::int64_t>(point.runs);
  if (point.succeeded == point.runs) return count_cell(runs);
  return {runs, fmt::format("{}/{}", point.succeeded, runs), Style::warning};
}

// The mark of the Pareto set, and what tells the points apart.
std::vector<TableColumn<PricedPoint>> point_columns(const store::PointLabels& labels)
{
  std::vector<TableColumn<PricedPoint>> columns{{{"pareto", "best"},
                                                 [](const PricedPoint& p) {
                                                   return Cell{p.is_in_set, p.is_in_set ? "*" : "", Style::good};
                                                 }},
                                                {{"point", ""}, [](const PricedPoint& p) { return text_cell(p.name); }}};
  auto of_labels = label_columns<PricedPoint>(labels, "", [](const auto& p) { return p.label; });
  for (auto& [column, cell] : of_labels)
    if (column.title == "point") column.title = "label"; // `point` is the member for programs
  // Without a member for programs the value is only what people read: an empty one makes an empty column.
  for (auto& [column, cell] : of_labels) cell = [shown = cell](const PricedPoint& p) { return text_cell(shown(p).text); };
  columns = before(columns, of_labels);
  columns.push_back({{"", "size"}, [](const PricedPoint& p) { return text_cell(p.size); }});
  return columns;
}

std::vector<TableColumn<PricedPoint>> best_columns(bool has_target, Metric by)
{
  return {
      {{"runs", "runs", Align::right, 2}, run_count_cell},
      {{"runs_succeeded", ""}, [](const PricedPoint& p) { return count_cell(static_cast<std::int64_t>(p.succeeded)); }},
      {{"throughput", "samples/s", Align::right}, [](const PricedPoint& p) { return real_cell(p.figure(Metric::throughput)); }},
      {{"time_to_target_s", has_target ? "to target" : "", Align::right},
       [](const PricedPoint& p) { return with_misses(seconds_cell(p.figure(Metric::time_to_target)), p); }},
      {{"samples_to_target", by == Metric::samples ? "samples to target" : "", Align::right},
       [](const PricedPoint& p) { return with_misses(real_cell(p.figure(Metric::samples), 6), p); }},
      {{"step_s", by == Metric::step_time ? "step" : "", Align::right},
       [](const PricedPoint& p) { return seconds_cell(p.figure(Metric::step_time)); }},
      {{"accuracy", by == Metric::accuracy ? "accuracy" : "", Align::right},
       [](const PricedPoint& p) { return percent_cell(p.figure(Metric::accuracy)); }},
      {{"joules_per_sample", by == Metric::energy ? "J/sample" : "", Align::right},
       [](const PricedPoint& p) { return real_cell(p.figure(Metric::energy)); }},
      {{"mfu", by == Metric::mfu ? "MFU" : "", Align::right},
       [](const PricedPoint& p) { return mfu_cell(p.figure(Metric::mfu)); }},
      {{"loss", by == Metric::loss ? "loss" : "", Align::right},
       [](const PricedPoint& p) { return real_cell(p.figure(Metric::loss)); }},
      {{"node_hours", "node-hours", Align::right},
       [](const PricedPoint& p) { return real_cell(p.figure(Metric::node_hours), 3); }},
      {{"reached", ""}, [](const PricedPoint& p) { return count_cell(static_cast<std::int64_t>(p.reached)); }},
      {{"target_runs", ""}, [](const PricedPoint& p) { return count_cell(static_cast<std::int64_t>(p.with_target)); }},
  };
}

void require_figures(const std::vector<PricedPoint>& points, Metric metric, const std::string& name)
{
  const auto has_figure = [&](const auto& point) { return std::isfinite(point.figure(metric)); };
  if (std::any_of(points.begin(), points.end(), has_figure)) return;
  std::size_t with_target = 0, diverged = 0;
  for (const auto& point : points) with_target += point.with_target, diverged += point.diverged;
  const bool needs_target = store::metric_row(metric).needs_target;
  const auto is_missed = [&](const auto& point) { return std::isinf(point.figure(metric)); };
  if (needs_target && std::any_of(points.begin(), points.end(), is_missed))
    throw Error(ErrorKind::usage, fmt::format("no point can be the best by {}: at no point did most of the runs reach the target "
                                              "({} of {} in all)",
                                              name,
                                              std::accumulate(points.begin(), points.end(), std::size_t{0},
                                                              [](auto sum, const auto& p) { return sum + p.reached; }),
                                              with_target));
  const bool has_succeeded = std::any_of(points.begin(), points.end(), [](const auto& point) { return point.succeeded > 0; });
  if (needs_target ? with_target > 0 : has_succeeded) throw Error(ErrorKind::usage, "no run has recorded a figure for " + name);
  if (needs_target && diverged > 0)
    throw Error(ErrorKind::usage, fmt::format("no point can be the best by {}: {} diverged, and no other has a target", name,
                                              counted(diverged, "run")));
  throw Error(ErrorKind::usage, needs_target ? "no run has a target (train.target_accuracy), so no point is the best by " + name
                                             : "no run has succeeded, so no point is the best by " + name);
}

std::string explanation(const store::Weighed& weighed)
{
  return fmt::format("no other point is at least as good by {} and by {} and better by one, as far as these runs tell",
                     store::metric_row(weighed.first).name, store::metric_row(weighed.second).name);
}

} // namespace

BestPoints best_points_of(const std::vector<store::ComparedPoint>& points, const std::string& metric,
                          const store::PointLabels& labels, std::size_t most_rows)
{
  const auto by = store::metric_of(metric);
  auto priced = store::priced_points(points);
  require_figures(priced, by, metric);
  auto best = store::best_points(std::move(priced), by);
  const bool has_target = std::any_of(best.begin(), best.end(), [](const auto& point) { return point.with_target > 0; });
  const auto columns = before(point_columns(labels), best_columns(has_target, by));
  auto text = explanation(store::weighed_of(by, best));
  best.resize(std::min(best.size(), most_rows));
  return {without_empty_columns(table_of("best", columns, best, std::identity(), "no runs")), std::move(text), points.size()};
}

void print_best(Context& context, const BestPoints& best)
{
  context.out.table(best.table);
  context.out.field("", "*", text_cell(best.explanation));
}

} // namespace dt::cli
