#include "cli/report/chart/chart_source.hpp"

#include "store/query/compared_runs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dt::cli {
namespace {

std::vector<std::string> all_labels(const ChartSource& source)
{
  std::vector<std::string> labels;
  for (const auto& point : source.scaling)
    if (labels.empty() || labels.back() != point.label) labels.push_back(point.label);
  return labels;
}

double best_throughput(const ChartSource& source, const std::string& label)
{
  double best = -1;
  for (const auto& point : source.scaling)
    if (point.label == label && point.throughput > best) best = point.throughput;
  return best;
}

} // namespace

ChartSource chart_source(store::Database& database, const Home& home, const store::StudyRow& study,
                         std::vector<store::RunRow> runs)
{
  auto compared = store::points_of(store::compared_runs(database, runs, ""));
  return {database, home, study, std::move(runs), store::scaling_of_study(database, study.id), std::move(compared)};
}

bool is_simulated(const ChartSource& source, const std::string& label)
{
  for (const auto& point : source.compared)
    if (point.candidate == label && !point.runs.empty()) return !point.runs.front().platform.empty();
  return false;
}

std::vector<std::string> drawn_labels(const ChartSource& source)
{
  auto labels = all_labels(source);
  if (labels.size() <= most_labels) return labels;
  auto best = labels;
  std::stable_sort(best.begin(), best.end(),
                   [&](const auto& a, const auto& b) { return best_throughput(source, a) > best_throughput(source, b); });
  best.resize(most_labels);
  std::erase_if(labels, [&](const auto& label) { return std::find(best.begin(), best.end(), label) == best.end(); });
  return labels;
}

std::string drawn_note(const ChartSource& source)
{
  const auto labels = all_labels(source).size();
  if (labels <= most_labels) return "";
  return fmt::format(" Drawn: the {} labels of the highest throughput, of {}.", most_labels, labels);
}

std::string legend_name(const ChartSource& source, const std::string& label) { return label.empty() ? source.study.name : label; }

std::string runs_text(std::int64_t succeeded, std::int64_t runs)
{
  const auto text = fmt::format("{} {}", succeeded, succeeded == 1 ? "run" : "runs");
  return succeeded == runs ? text : fmt::format("{} of {}", text, runs);
}

std::string size_title(const ChartSource& source)
{
  if (store::sizes_of_kind(source.study.kind) == store::StudySizes::parts) return "ranks per node";
  const bool in_nodes =
      std::all_of(source.scaling.begin(), source.scaling.end(), [](const auto& point) { return point.size == point.nodes; });
  const bool has_several_nodes =
      std::any_of(source.scaling.begin(), source.scaling.end(), [](const auto& point) { return point.nodes > 1; });
  return in_nodes && has_several_nodes ? "nodes" : "workers";
}

} // namespace dt::cli
