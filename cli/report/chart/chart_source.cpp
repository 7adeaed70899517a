#include "cli/report/chart/chart_source.hpp"

#include "store/query/compared_runs.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// The highest throughput of each label at any size, in samples/s; 0 if none was measured.
std::map<std::string, double> best_throughputs(const ChartSource& source)
{
  std::map<std::string, double> best;
  for (const auto& point : source.scaling) {
    auto& known = best[point.label];
    if (point.throughput > known) known = point.throughput;
  }
  return best;
}

} // namespace

ChartSource chart_source(store::Database& database, const Home& home, const store::StudyRow& study,
                         std::vector<store::RunRow> runs)
{
  auto compared = store::points_of(store::compared_runs(database, runs, ""), "", study.labels);
  auto shown = store::labels_of(compared, study.labels);
  ChartSource source{database, home, study, std::move(runs), store::scaling_of_study(database, study.id), std::move(compared)};
  source.shown = std::move(shown);
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
  const auto throughputs = best_throughputs(source);
  auto best = source.labels;
  std::stable_sort(best.begin(), best.end(), [&](const auto& a, const auto& b) { return throughputs.at(a) > throughputs.at(b); });
  best.resize(most_labels);
  std::erase_if(source.labels, [&](const auto& label) { return std::find(best.begin(), best.end(), label) == best.end(); });
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
