// Drift of the machine: the throughput of each run relative to its point, over the time of the study.
#include "cli/report/chart/charts.hpp"
#include "core/spec/point_label.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::size_t most_drawn_runs = 1000;

using Point = std::tuple<std::string_view, std::int64_t, std::int64_t, bool>;

Point point_of(const store::RunRow& run) { return {run.series, run.nodes, run.ranks, run.is_control}; }

double throughput_of(const store::RunRow& run) { return run.figure("throughput"); }

// The succeeded runs that were measured, by the time of their begin. A/A controls are about the machine, whatever label is asked
// for.
std::vector<const store::RunRow*> measured_runs(const ChartSource& source)
{
  std::set<std::string_view> labels;
  for (const auto& point : source.scaling) labels.insert(point.label);
  std::vector<const store::RunRow*> runs;
  for (const auto& run : source.runs)
    if (run.state == RunState::succeeded && run.platform.empty() && run.begin_unix_s > 0 && throughput_of(run) > 0 &&
        (labels.contains(run.series) || (run.is_control && !tried_setting(run.series))))
      runs.push_back(&run);
  std::stable_sort(runs.begin(), runs.end(), [](const auto* a, const auto* b) { return a->begin_unix_s < b->begin_unix_s; });
  return runs;
}

// The geometric mean of the throughputs of each point with at least two runs.
std::map<Point, double> means_of(const std::vector<const store::RunRow*>& runs)
{
  std::map<Point, std::pair<double, double>> sums; // of the logarithms, and the number of runs
  for (const auto* run : runs) {
    auto& [logs, count] = sums[point_of(*run)];
    logs += std::log(throughput_of(*run));
    count += 1;
  }
  std::map<Point, double> means;
  for (const auto& [point, sum] : sums)
    if (sum.second > 1) means[point] = std::exp(sum.first / sum.second);
  return means;
}

} // namespace

Charts drift_chart(const ChartSource& source)
{
  auto runs = measured_runs(source);
  const auto means = means_of(runs);
  std::erase_if(runs, [&](const auto* run) { return !means.contains(point_of(*run)); });
  if (runs.empty())
    return {{}, "No point has two measured runs, so a change of the machine cannot be seen. Set `repeats` in the recipe."};
  Chart chart{.id = "drift",
              .title = "Drift of the machine",
              .caption =
                  "Throughput of each run, divided by the geometric mean of its point. A machine that does not change gives "
                  "points around 100 % without a trend.",
              .x = {.title = "time since the first run began [min]", .from_zero = true},
              .y = {.title = "throughput relative to the point", .is_share = true}};
  Series ordinary{.name = "runs", .mark = Mark::points, .points = {}, .colour = 0};
  Series controls{.name = "A/A controls", .mark = Mark::points, .points = {}, .colour = 1};
  const auto each = (runs.size() + most_drawn_runs - 1) / most_drawn_runs;
  if (each > 1) chart.caption += fmt::format(" Drawn: one of every {} runs.", each);
  for (std::size_t i = 0; i < runs.size(); i += each) {
    const auto& run = *runs[i];
    (run.is_control ? controls : ordinary)
        .points.push_back({(run.begin_unix_s - runs.front()->begin_unix_s) / 60, throughput_of(run) / means.at(point_of(run)),
                           not_measured, not_measured, run.name});
  }
  for (auto* series : {&ordinary, &controls})
    if (!series->points.empty()) chart.series.push_back(std::move(*series));
  return {{std::move(chart)}, ""};
}

} // namespace dt::cli
