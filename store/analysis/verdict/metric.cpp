#include "store/analysis/verdict/metric.hpp"

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
    {.metric = Metric::throughput,
     .title = "samples/s",
     .words = "throughput",
     .column = "throughput",
     .scale = Scale::ratio,
     .is_speed = true,
     .needs_target = false,
     .is_of_training = false,
     .is_of_machine = true,
     .value = [](const Run& run) { return run.throughput; }},
    {.metric = Metric::time_to_target,
     .title = "to target",
     .words = "time to target",
     .column = "time_to_accuracy_s",
     .scale = Scale::time_to_target,
     .is_speed = true,
     .needs_target = true,
     .is_of_training = true,
     .is_of_machine = true,
     .value = [](const Run& run) { return run.time_to_accuracy_s; }},
    {.metric = Metric::step_time,
     .title = "step",
     .words = "step time",
     .column = "step_p50_s",
     .scale = Scale::ratio,
     .is_speed = true,
     .needs_target = false,
     .is_of_training = false,
     .is_of_machine = true,
     .value = [](const Run& run) { return run.step_s; }},
    {.metric = Metric::accuracy,
     .title = "accuracy",
     .words = "accuracy",
     .column = "accuracy",
     .scale = Scale::difference,
     .is_speed = false,
     .needs_target = false,
     .is_of_training = true,
     .is_of_machine = false,
     .value = [](const Run& run) { return run.accuracy; }},
    {.metric = Metric::node_hours,
     .title = "node-hours",
     .words = "node-hours",
     .column = "other.resources_nodes * results.wall_s / 3600",
     .scale = Scale::ratio,
     .is_speed = false,
     .needs_target = false,
     .is_of_training = false,
     .is_of_machine = true,
     .value = [](const Run& run) { return static_cast<double>(run.nodes) * run.wall_s / 3600; }},
    {.metric = Metric::samples,
     .title = "samples to target",
     .words = "samples to target",
     .column = "samples_to_accuracy",
     .scale = Scale::time_to_target,
     .is_speed = false,
     .needs_target = true,
     .is_of_training = true,
     .is_of_machine = false,
     .value = [](const Run& run) { return run.samples_to_accuracy; }},
    {.metric = Metric::energy,
     .title = "J/sample",
     .words = "energy of a sample",
     .column = "energy_joules_per_sample",
     .scale = Scale::ratio,
     .is_speed = false,
     .needs_target = false,
     .is_of_training = false,
     .is_of_machine = true,
     .value = [](const Run& run) { return run.joules_per_sample; }},
    {.metric = Metric::mfu,
     .title = "MFU",
     .words = "model FLOPs utilisation",
     .column = "mfu",
     .scale = Scale::ratio,
     .is_speed = false,
     .needs_target = false,
     .is_of_training = false,
     .is_of_machine = true,
     .value = [](const Run& run) { return run.mfu; }},
    {.metric = Metric::loss,
     .title = "loss",
     .words = "loss",
     .column = "eval_loss",
     .scale = Scale::ratio,
     .is_speed = false,
     .needs_target = false,
     .is_of_training = true,
     .is_of_machine = false,
     .value = [](const Run& run) { return run.eval_loss; }},
};

// The run's value on the metric's scale; NaN if it has none.
double value_of(const Run& run, const MetricRow& row)
{
  if (row.is_of_training && run.has_diverged) return not_measured;
  const double value = row.value(run);
  if (row.scale == Scale::difference) return std::isfinite(value) ? value : not_measured;
  if (value > 0 && std::isfinite(value)) return value;
  const bool missed = row.needs_target && run.target_accuracy > 0 && run.knows_target && !(run.time_to_accuracy_s > 0);
  return missed ? std::numeric_limits<double>::infinity() : not_measured;
}

void add_value(Candidate& candidate, const Run& run, double value)
{
  if (std::isnan(value)) return;
  candidate.values.push_back(value);
  candidate.blocks.push_back(run.block);
  candidate.begins_unix_s.push_back(run.begin_unix_s);
  candidate.nodes.push_back(run.hosts);
}

void count_target(Sample& sample, const Run& run)
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

std::vector<std::string> metric_names()
{
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

Metric metric_of(std::string_view name) { return lookup(rows, "metric", name, ErrorKind::usage).metric; }

Sample sample_of(std::string name, std::span<const Run> runs, Metric metric)
{
  Sample sample{.candidate = {.name = std::move(name), .values = {}}};
  const auto& row = metric_row(metric);
  std::vector<double> node_hours;
  std::set<std::string_view> keys;
  std::set<std::int64_t> seeds;
  for (const auto& run : runs) {
    if (run.is_control || (!run.key.empty() && !keys.insert(run.key).second)) continue;
    ++sample.runs;
    if (!run.succeeded) continue;
    ++sample.succeeded;
    sample.copies += run.copies.empty() ? 0 : 1;
    const double value = value_of(run, row);
    if (run.is_outlying && row.is_of_machine)
      ++sample.outlying;
    else
      add_value(sample.candidate, run, value);
    if (!std::isnan(value)) seeds.insert(run.seed);
    count_target(sample, run);
    if (const double hours = value_of(run, metric_row(Metric::node_hours)); !std::isnan(hours)) node_hours.push_back(hours);
  }
  sample.seeds = seeds.size();
  sample.node_hours = moments_of(node_hours).mean;
  sample.candidate.is_exact =
      !runs.empty() && std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run.is_exact; });
  auto& blocks = sample.candidate.blocks;
  if (std::all_of(blocks.begin(), blocks.end(), [](const auto& block) { return block.empty(); })) blocks.clear();
  return sample;
}

} // namespace dt::store
