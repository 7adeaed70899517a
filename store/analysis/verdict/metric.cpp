#include "store/analysis/verdict/metric.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace dt::store {
namespace {

constexpr MetricRow rows[]{
    {Metric::throughput, "throughput", "samples/s", "throughput", Scale::ratio, Better::larger, &ComparedRun::throughput},
    {Metric::time_to_target, "time-to-target", "to target", "time to target", Scale::time_to_target, Better::smaller,
     &ComparedRun::time_to_accuracy_s},
    {Metric::step_time, "step-time", "step", "step time", Scale::ratio, Better::smaller, &ComparedRun::step_s},
    {Metric::accuracy, "accuracy", "accuracy", "accuracy", Scale::difference, Better::larger, &ComparedRun::accuracy},
};

// The run's value on the metric's scale; NaN if it has none.
double value_of(const ComparedRun& run, const MetricRow& row)
{
  if (is_of_training(row.metric) && run.has_diverged) return not_measured;
  const double value = run.*row.figure;
  if (row.scale == Scale::difference) return std::isfinite(value) ? value : not_measured;
  if (value > 0 && std::isfinite(value)) return value;
  const bool missed = row.scale == Scale::time_to_target && run.target_accuracy > 0 && run.knows_target;
  return missed ? std::numeric_limits<double>::infinity() : not_measured;
}

void add_value(Candidate& candidate, const ComparedRun& run, double value)
{
  if (std::isnan(value)) return;
  candidate.values.push_back(value);
  candidate.blocks.push_back(run.block);
  const double end_s = run.begin_unix_s + run.wall_s;
  const bool is_first = candidate.values.size() == 1;
  // A run without a time makes them unknown: a comparison with NaN is false, so the NaN stays.
  candidate.first_begin_s =
      is_first || !(run.begin_unix_s >= candidate.first_begin_s) ? run.begin_unix_s : candidate.first_begin_s;
  candidate.last_end_s = is_first || !(end_s <= candidate.last_end_s) ? end_s : candidate.last_end_s;
}

void count_target(Sample& sample, const ComparedRun& run)
{
  if (run.has_diverged) {
    ++sample.diverged;
    return;
  }
  if (!run.knows_target) return;
  const bool reached = run.time_to_accuracy_s > 0;
  if (run.target_accuracy > 0 || reached) ++sample.with_target;
  if (reached) ++sample.reached;
}

} // namespace

std::span<const MetricRow> metric_rows() { return rows; }

const MetricRow& metric_row(Metric metric)
{
  return *std::find_if(std::begin(rows), std::end(rows), [&](const MetricRow& row) { return row.metric == metric; });
}

Metric metric_of(std::string_view name) { return lookup(rows, "metric", name, ErrorKind::usage).metric; }

Sample sample_of(std::string name, std::span<const ComparedRun> runs, Metric metric)
{
  Sample sample{.candidate = {.name = std::move(name), .values = {}}};
  std::vector<double> node_hours;
  std::set<std::string_view> keys;
  std::set<std::int64_t> seeds;
  for (const auto& run : runs) {
    if (run.is_control || (!run.key.empty() && !keys.insert(run.key).second)) continue;
    ++sample.runs;
    if (!run.succeeded) continue;
    ++sample.succeeded;
    if (run.is_outlying && !is_of_training(metric))
      ++sample.outlying;
    else
      add_value(sample.candidate, run, value_of(run, metric_row(metric)));
    if (!std::isnan(value_of(run, metric_row(metric)))) seeds.insert(run.seed);
    count_target(sample, run);
    if (run.wall_s > 0) node_hours.push_back(static_cast<double>(run.nodes) * run.wall_s / 3600);
  }
  sample.seeds = seeds.size();
  sample.node_hours = moments_of(node_hours).mean;
  sample.candidate.is_exact =
      !runs.empty() && std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run.is_exact; });
  auto& blocks = sample.candidate.blocks;
  if (std::all_of(blocks.begin(), blocks.end(), [](const auto& block) { return block.empty(); })) blocks.clear();
  return sample;
}

std::string reached_text(const Sample& sample)
{
  return std::to_string(sample.reached) + " of " + counted(sample.with_target, "run") + " reached the target" +
         (sample.diverged > 0 ? " and " + std::to_string(sample.diverged) + " diverged" : "");
}

} // namespace dt::store
