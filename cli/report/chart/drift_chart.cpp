// Drift of the machine: the throughput of each run relative to its point, over the time of the study.
#include "cli/report/chart/charts.hpp"
#include "store/query/pictures/run_moments.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace dt::cli {
namespace {

constexpr std::size_t most_points = 1000;

using Point = std::tuple<std::string, std::int64_t, std::int64_t, bool>;

Point point_of(const store::RunMoment& run) { return {run.label, run.nodes, run.ranks, run.is_control}; }

// The geometric mean of the throughputs of each point with at least two runs.
std::map<Point, double> means_of(const std::vector<store::RunMoment>& runs)
{
  std::map<Point, std::pair<double, double>> sums; // of the logarithms, and the number of runs
  for (const auto& run : runs) {
    auto& [logs, count] = sums[point_of(run)];
    logs += std::log(run.throughput);
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
  auto runs = store::run_moments(source.database, source.study.id);
  std::set<std::string> labels;
  for (const auto& point : source.scaling) labels.insert(point.label);
  // Controls are about the machine, whatever label is asked for.
  std::erase_if(
      runs, [&](const auto& run) { return is_simulated(source, run.label) || !(run.is_control || labels.contains(run.label)); });
  const auto means = means_of(runs);
  std::erase_if(runs, [&](const auto& run) { return !means.contains(point_of(run)); });
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
  const auto each = (runs.size() + most_points - 1) / most_points;
  if (each > 1) chart.caption += fmt::format(" Drawn: one of every {} runs.", each);
  for (std::size_t i = 0; i < runs.size(); i += each) {
    const auto& run = runs[i];
    (run.is_control ? controls : ordinary)
        .points.push_back({(run.begin_unix_s - runs.front().begin_unix_s) / 60, run.throughput / means.at(point_of(run)),
                           not_measured, not_measured, run.name});
  }
  for (auto* series : {&ordinary, &controls})
    if (!series->points.empty()) chart.series.push_back(std::move(*series));
  return {{std::move(chart)}, ""};
}

} // namespace dt::cli
