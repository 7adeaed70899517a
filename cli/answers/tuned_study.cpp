#include "cli/answers/tuned_study.hpp"

#include "cli/output/label_columns.hpp"
#include "core/text.hpp"

#include <cmath>

#include <fmt/format.h>

namespace dt::cli {
namespace {

std::string flat_text(const TunedPoint& point)
{
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < point.search.flat.size(); ++k) {
    const auto& [low, high] = point.search.flat[k];
    if (std::isfinite(low) && std::isfinite(high))
      parts.push_back(fmt::format("{} to {}", tuned_text(point.keys[k], low), tuned_text(point.keys[k], high)));
  }
  return join(parts, "; ");
}

std::string state_text(const TunedPoint& point)
{
  if (point.keys.empty()) return "nothing to tune";
  if (!point.has_begun) return "waits for the smaller size";
  if (!point.search.is_over) return "not over";
  if (!point.search.best) return "no setting reached the target";
  return point.search.is_bracketed ? "tuned" : "no optimum: the best setting is the outermost";
}

std::string values_text(const TunedPoint& point)
{
  if (!point.search.is_over || !point.search.best) return "";
  std::vector<std::string> parts;
  for (const auto& [path, value] : point.texts(*point.search.best)) parts.push_back(path + "=" + value);
  return join(parts, " ");
}

} // namespace

Table tuning_table(const std::vector<TunedPoint>& points, const std::map<std::string, std::string>& own, const StudyTune& tune)
{
  const auto metric = metric_of(tune);
  std::vector<TableColumn<TunedPoint>> columns{
      {{"nodes", "nodes", Align::right}, [](const TunedPoint& p) { return count_cell(p.nodes); }},
      {{"ranks", "ranks", Align::right}, [](const TunedPoint& p) { return count_cell(p.ranks); }},
      {{"tuned", "tuned values"}, [](const TunedPoint& p) { return text_cell(values_text(p), Style::strong); }},
      {{"within_10_percent", "costs at most 10 % more"}, [](const TunedPoint& p) { return text_cell(flat_text(p)); }},
      {{"cost", std::string(metric == Metric::accuracy ? "error" : store::metric_row(metric).title), Align::right},
       [metric](const TunedPoint& p) {
         if (std::isnan(p.cost())) return data_cell(nullptr);
         return metric == Metric::time_to_target ? seconds_cell(p.cost()) : real_cell(p.cost());
       }},
      {{"search_runs", "runs", Align::right}, [](const TunedPoint& p) { return count_cell(p.ended); }},
      {{"search_runs_in_vain", "in vain", Align::right},
       [](const TunedPoint& p) { return p.in_vain > 0 ? count_cell(p.in_vain) : data_cell(0); }},
      {{"search_node_hours", "node-hours", Align::right}, [](const TunedPoint& p) { return real_cell(p.node_hours, 3); }},
      {{"state", "state"}, [](const TunedPoint& p) {
         return text_cell(state_text(p), p.is_tuned() ? Style::good : p.search.is_over ? Style::bad : Style::plain);
       }}};
  if (metric == Metric::time_to_target)
    columns.insert(columns.begin() + 5, {{"cost_with_tuning", "with tuning", Align::right}, [](const TunedPoint& p) {
                                           return std::isnan(p.cost()) ? data_cell(nullptr) : seconds_cell(p.cost() + p.search_s);
                                         }});
  std::vector<std::string> series; // also those that have no results yet
  for (const auto& point : points) series.push_back(point.series);
  const store::PointLabels labels(series, own);
  const auto first = label_columns<TunedPoint>(labels, "label", [](const TunedPoint& p) { return p.series; });
  return without_empty_columns(table_of("tuning", before(first, columns), points, std::identity(), "no setting was tried yet"));
}

} // namespace dt::cli
