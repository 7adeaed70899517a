// Runs, and their comparisons and rankings, for the tests of decisions and of their words.
#pragma once

#include "store/analysis/verdict/judged.hpp"
#include "store/analysis/verdict/scaling_answer.hpp"
#include "store/analysis/verdict/standing.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace dt::store::test {

inline constexpr double miss = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

// Succeeded runs with these throughputs, on two ranks of one node for an hour, each with its own seed.
inline std::vector<Run> runs_of(const Values& throughputs, const std::string& series = "")
{
  std::vector<Run> runs;
  for (const double value : throughputs) {
    Run run;
    run.key = series + std::to_string(runs.size());
    run.series = series;
    run.nodes = 1;
    run.ranks = 2;
    run.seed = 1 + static_cast<std::int64_t>(runs.size());
    run.succeeded = true;
    run.throughput = value;
    run.accuracy = value / 1000;
    run.wall_s = 3600;
    runs.push_back(run);
  }
  return runs;
}

// Runs with a target and these times to it.
inline std::vector<Run> timed_runs(const Values& times, const std::string& series = "", double throughput = 100)
{
  auto runs = runs_of(Values(times.size(), throughput), series);
  for (std::size_t i = 0; i < times.size(); ++i) {
    runs[i].throughput += static_cast<double>(i % 3);
    runs[i].accuracy = runs[i].throughput / 1000;
    runs[i].target_accuracy = 0.9;
    if (std::isfinite(times[i])) runs[i].time_to_accuracy_s = times[i];
  }
  return runs;
}

inline std::vector<Run> with_one_seed(std::vector<Run> runs)
{
  for (auto& run : runs) run.seed = 1;
  return runs;
}

inline Judged judged(const std::vector<Run>& a, const std::vector<Run>& b, Metric metric, double margin = 0.02)
{
  auto sample_a = sample_of("A", a, metric), sample_b = sample_of("B", b, metric);
  const std::vector<Candidate> both{sample_a.candidate, sample_b.candidate};
  const auto scatter = pooled_scatter(both, metric_row(metric).scale);
  return judge("point", metric, sample_a, sample_b, {.margin = margin}, scatter);
}

inline Judged by_throughput(const Values& a, const Values& b, double margin = 0.02)
{
  return judged(runs_of(a), runs_of(b), Metric::throughput, margin);
}

inline Judged by_time(const Values& a, const Values& b) { return judged(timed_runs(a), timed_runs(b), Metric::time_to_target); }

// The ranking of these candidates at two ranks by each of the metrics.
inline std::vector<Standing> ranked(const std::vector<std::vector<Run>>& candidates, const std::vector<Metric>& metrics)
{
  Contest contest{"2 ranks", {}};
  for (const auto& runs : candidates)
    contest.points.push_back({.candidate = runs.front().series, .rest = "", .nodes = 1, .ranks = 2, .runs = runs});
  return standings_of({&contest, 1}, metrics, {});
}
inline Standing ranked(const std::vector<std::vector<Run>>& candidates, Metric metric)
{
  return ranked(candidates, std::vector{metric}).front();
}

// Sides that lie a day apart on hosts of one kind.
inline Separation day_apart() { return {.apart_s = 86400, .a_is_later = true, .is_same_kind = true}; }

// Three studies of one work whose means differ by 10 %, within so many days.
inline Repetitions three_studies(double days)
{
  RepeatedWork work;
  for (const auto& [study, value] : {std::pair{"x", 100.0}, {"y", 110.0}, {"z", 121.0}})
    work.push_back({study, log_moments(Values{value, value, value})});
  return {.works = {work}, .longest_s = days * 86400, .host_sets = 1};
}

// A run of a scaling study.
inline Run measured(std::int64_t ranks, double throughput)
{
  Run run;
  run.nodes = 1;
  run.ranks = run.workers = ranks;
  run.succeeded = true;
  run.throughput = throughput;
  return run;
}

inline std::vector<ScalingRow> sizes_of(const std::vector<std::pair<std::int64_t, Values>>& sizes)
{
  std::vector<Run> runs;
  for (const auto& [ranks, values] : sizes)
    for (const double value : values) runs.push_back(measured(ranks, value));
  return scaling_of(runs, StudySizes::grow);
}

} // namespace dt::store::test
