#include "cli/report/chart/chart_source.hpp"

#include "core/counted.hpp"
#include "store/query/compared_runs.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// The labels with the highest throughput at any size, in the order of `labels`. The points of a label follow each other.
std::vector<std::string> best_labels(const std::vector<std::string>& labels, const std::vector<store::ScalingRow>& points)
{
  std::vector<std::pair<double, std::size_t>> best; // throughput in samples/s, 0 if none was measured, and place of the label
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == 0 || points[i].label != points[i - 1].label) best.emplace_back(0, best.size());
    if (points[i].throughput > best.back().first) best.back().first = points[i].throughput;
  }
  std::stable_sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  best.resize(std::min(best.size(), most_labels));
  std::sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<std::string> chosen;
  for (const auto& [throughput, place] : best) chosen.push_back(labels[place]);
  return chosen;
}

// Whether every point's size is its number of nodes.
bool is_in_nodes(const ChartSource& source)
{
  const bool in_nodes =
      std::all_of(source.scaling.begin(), source.scaling.end(), [](const auto& point) { return point.size == point.nodes; });
  const bool has_several_nodes =
      std::any_of(source.scaling.begin(), source.scaling.end(), [](const auto& point) { return point.nodes > 1; });
  return in_nodes && has_several_nodes;
}

} // namespace

bool is_partition(const ChartSource& source) { return store::sizes_of_kind(source.study.kind) == store::StudySizes::parts; }

ChartSource chart_source(store::Database& database, const Home& home, const store::StudyRow& study,
                         std::vector<store::RunRow> runs)
{
  auto figures = store::figures_of(runs);
  auto scaling = store::scaling_of(figures, store::sizes_of_kind(study.kind));
  auto compared = store::points_without_titles(std::move(figures));
  ChartSource source{database, home, study, std::move(runs), std::move(scaling), std::move(compared)};
  source.shown = store::labels_of(source.compared, study.labels);
  store::give_titles(source.compared, source.shown);
  choose_labels(source);
  return source;
}

void choose_labels(ChartSource& source)
{
  source.labels.clear();
  source.simulated.clear();
  for (const auto& point : source.scaling)
    if (source.labels.empty() || source.labels.back() != point.label) source.labels.push_back(point.label);
  for (const auto& point : source.compared)
    if (!point.runs.empty() && !point.runs.front().platform.empty()) source.simulated.insert(point.candidate);
  source.all_labels = source.labels.size();
  if (source.all_labels <= most_labels) return;
  source.labels = best_labels(source.labels, source.scaling);
}

bool is_drawn(const ChartSource& source, const std::string& label)
{
  return std::find(source.labels.begin(), source.labels.end(), label) != source.labels.end();
}

std::string drawn_note(const ChartSource& source)
{
  if (source.labels.size() == source.all_labels) return "";
  return fmt::format(" Drawn: the {} labels of the highest throughput, of {}.", source.labels.size(), source.all_labels);
}

std::string legend_name(const ChartSource& source, const std::string& label)
{
  const auto shown = source.shown.shown(label);
  return shown.empty() ? source.study.name : shown;
}

std::string runs_text(std::int64_t succeeded, std::int64_t runs)
{
  const auto text = counted(succeeded, "run");
  return succeeded == runs ? text : fmt::format("{} of {}", text, runs);
}

std::string size_title(const ChartSource& source)
{
  if (is_partition(source)) return "ranks per node";
  return is_in_nodes(source) ? "nodes" : "workers";
}

double drawn_size(const ChartSource& source, const store::ScalingRow& row)
{
  return static_cast<double>(is_partition(source) || is_in_nodes(source) ? row.size : row.workers);
}

} // namespace dt::cli
