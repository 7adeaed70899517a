#include "store/analysis/statistics/scaling.hpp"

#include "core/maths/statistics.hpp"
#include "core/natural_key.hpp"
#include "store/analysis/statistics/candidate_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace dt::store {
namespace {

// A point, and the figures of its succeeded runs.
struct Point {
  ScalingRow row;
  std::vector<double> shares, accuracies, energies, utilisations;
  std::vector<double> times; // time to the target; infinite if the run missed it
};

void add_measured(std::vector<double>& values, double value)
{
  if (!std::isnan(value)) values.push_back(value);
}

void add_time(Point& point, const Run& run)
{
  const bool reached = !std::isnan(run.time_to_accuracy_s);
  if (!reached && !run.has_target()) return;
  if (!run.is_outlying) point.times.push_back(reached ? run.time_to_accuracy_s : std::numeric_limits<double>::infinity());
  ++point.row.target_runs;
  if (reached) ++point.row.reached;
}

void add_figures_of_machine(Point& point, const Run& run)
{
  if (run.throughput > 0 && std::isfinite(run.throughput)) {
    point.row.throughputs.push_back(run.throughput);
    point.row.blocks.push_back(run.block);
  }
  add_measured(point.shares, run.communication_share);
  if (run.joules_per_sample > 0) point.energies.push_back(run.joules_per_sample);
  if (run.mfu > 0) point.utilisations.push_back(run.mfu);
}

void add_run(Point& point, const Run& run)
{
  ++point.row.runs;
  if (!run.succeeded) return;
  ++point.row.succeeded;
  if (!run.copies.empty()) ++point.row.copies, point.row.why_copies = run.copies;
  if (run.is_outlying)
    ++point.row.outlying;
  else
    add_figures_of_machine(point, run);
  if (run.has_diverged) {
    ++point.row.diverged;
    return;
  }
  add_measured(point.accuracies, run.accuracy);
  add_time(point, run);
}

// The points in the order of their labels and sizes.
std::vector<Point> points_of(std::span<const Run> runs)
{
  using Key = std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Key, Point> sorted;
  for (const auto& run : runs) {
    if (run.is_control || run.ranks == 0) continue;
    auto& point = sorted[{natural_key(run.series), run.series, run.workers, run.ranks, run.nodes}];
    point.row.label = run.series;
    point.row.platform = run.platform;
    point.row.nodes = run.nodes;
    point.row.ranks = run.ranks;
    point.row.workers = point.row.size = run.workers;
    point.row.is_exact = run.is_exact;
    add_run(point, run);
  }
  std::vector<Point> points;
  for (auto& [key, point] : sorted) points.push_back(std::move(point));
  return points;
}

Candidate candidate_of(const ScalingRow& row)
{
  return {.name = row.label, .values = row.throughputs, .blocks = row.blocks, .is_exact = row.is_exact};
}

double centre(const std::vector<double>& values, Scale scale) { return centre_of({.name = {}, .values = values}, scale); }

void summarise(Point& point)
{
  auto& row = point.row;
  row.throughput = centre_of(candidate_of(row), Scale::ratio);
  row.throughput_median = median(row.throughputs);
  row.throughput_min = quantile(row.throughputs, 0);
  row.throughput_max = quantile(row.throughputs, 1);
  row.communication_share = centre(point.shares, Scale::difference);
  row.accuracy = centre(point.accuracies, Scale::difference);
  row.joules_per_sample = centre(point.energies, Scale::ratio);
  row.mfu = centre(point.utilisations, Scale::ratio);
  const double time_s = centre(point.times, Scale::time_to_target);
  row.time_to_accuracy_s = std::isinf(time_s) ? not_measured : time_s; // most runs missed the target
}

// Whether the size is counted in nodes: the number of nodes varies at a fixed number of workers per node. Otherwise it is
// workers.
bool counts_nodes(std::span<const Point> series)
{
  const auto& first = series.front().row;
  const auto same_density = [&](const Point& p) { return p.row.workers * first.nodes == first.workers * p.row.nodes; };
  const auto same_nodes = [&](const Point& p) { return p.row.nodes == first.nodes; };
  return std::all_of(series.begin(), series.end(), same_density) && !std::all_of(series.begin(), series.end(), same_nodes);
}

// Smallest sizes of the whole study, measured or not.
struct SmallestSizes {
  std::int64_t nodes = std::numeric_limits<std::int64_t>::max(), workers = nodes;
};

// NaN if one of the candidates has too few runs, or if nothing scatters.
Interval interval_of(const Comparison& ratio, const ScalingRow& row, const ScalingRow& base)
{
  const double ideal = ideal_ratio(row, base);
  return {ratio.interval.low / ideal, ratio.interval.high / ideal};
}

bool is_measured(const Point& point) { return !std::isnan(point.row.throughput); }

// Computes speed-up and efficiency of the points of one label, relative to the smallest measured point, if another one was
// measured. `series` is sorted by size; `all` knows its points from index `first` on. A baseline larger than the study's smallest
// size gets no values itself.
void relate(std::span<Point> series, const SmallestSizes& smallest, StudySizes sizes, const CandidateSet& all, std::size_t first)
{
  const bool nodes = sizes != StudySizes::parts && counts_nodes(series);
  for (auto& point : series) {
    point.row.is_part = sizes == StudySizes::parts;
    point.row.size = point.row.is_part ? point.row.ranks / point.row.nodes : nodes ? point.row.nodes : point.row.workers;
  }
  if (std::count_if(series.begin(), series.end(), is_measured) < 2) return;
  const auto base = std::find_if(series.begin(), series.end(), is_measured);
  for (auto& point : series) {
    auto& row = point.row;
    const bool is_base = &point == &*base;
    if (!is_measured(point)) continue;
    if (is_base && (nodes ? row.nodes > smallest.nodes : row.workers > smallest.workers)) continue;
    row.baseline_size = base->row.size;
    row.speedup = row.throughput / base->row.throughput;
    row.efficiency = row.speedup / ideal_ratio(row, base->row);
    if (!row.is_part)
      row.efficiency_per_process = row.speedup * static_cast<double>(base->row.ranks) / static_cast<double>(row.ranks);
    if (is_base) continue; // the baseline is its own reference
    const auto index = [&](const Point& own) { return first + static_cast<std::size_t>(&own - series.data()); };
    const auto ratio = all.compare(index(point), index(*base), {});
    if (ratio.design == Design::paired || ratio.design == Design::pooled)
      row.paired_blocks = static_cast<std::int64_t>(ratio.runs_a);
    const auto interval = interval_of(ratio, row, base->row);
    row.efficiency_low = interval.low;
    row.efficiency_high = interval.high;
  }
}

} // namespace

StudySizes sizes_of_kind(std::string_view kind)
{
  if (kind == "partition") return StudySizes::parts;
  return kind == "strong" || kind == "weak" || kind == "scaling" ? StudySizes::grow : StudySizes::labels;
}

double efficiency(const Moments& sample, double size, const Moments& base, double base_size)
{
  return std::exp(sample.mean - base.mean) * base_size / size;
}

Interval efficiency_interval(const Moments& sample, double size, const Moments& base, double base_size)
{
  const auto logarithms = confidence_interval(difference_of_means(sample, base), 0.95);
  const double ideal = size / base_size;
  return {std::exp(logarithms.low) / ideal, std::exp(logarithms.high) / ideal};
}

Interval efficiency_interval(std::span<const ScalingRow> points, std::size_t point, std::size_t base)
{
  std::vector<Candidate> candidates;
  for (const auto& row : points) candidates.push_back(candidate_of(row));
  return interval_of(CandidateSet(candidates, Scale::ratio).compare(point, base, {}), points[point], points[base]);
}

double ideal_ratio(const ScalingRow& point, const ScalingRow& base)
{
  return point.is_part ? 1 : static_cast<double>(point.size) / static_cast<double>(base.size);
}

Fields<ScalingRow> scaling_fields()
{
  using R = ScalingRow;
#define DT_AT(member) &member_of<R, &R::member>
  static const Field<R> fields[]{
      {"label", DT_AT(label), "", "the sweep's values, without the size"},
      {"platform", DT_AT(platform), "", "the machine on which the runs were simulated; empty: they were measured"},
      {"nodes", DT_AT(nodes), "", "nodes of each run"},
      {"ranks", DT_AT(ranks), "", "ranks of each run"},
      {"workers", DT_AT(workers), "", "ranks that train; the others serve parameters"},
      {"size", DT_AT(size), "",
       "N: the nodes, if the points of this label vary them at a fixed number of workers per node; else the workers; in a "
       "partition study the parts of a node"},
      {"runs", DT_AT(runs), "", "runs that differ only in their repeat, without A/A controls"},
      {"succeeded", DT_AT(succeeded), "", "runs that succeeded; the figures are theirs"},
      {"diverged", DT_AT(diverged), "", "succeeded runs that diverged: they are left out of accuracy and time to the target"},
      {"outlying", DT_AT(outlying), "",
       "succeeded runs whose throughput is an outlier among the runs of the study: they are left out of all figures but "
       "accuracy"},
      {"copies", DT_AT(copies), "",
       "succeeded runs whose ranks do not train together: they are copies of one training, or trainings of their own, so they "
       "have "
       "no throughput, speed-up and efficiency"},
      {"throughput", DT_AT(throughput), "samples/s", "G(N), the geometric mean, which speed-up and efficiency are made of"},
      {"throughput_median", DT_AT(throughput_median), "samples/s", "median"},
      {"throughput_min", DT_AT(throughput_min), "samples/s", "smallest"},
      {"throughput_max", DT_AT(throughput_max), "samples/s", "largest"},
      {"speedup", DT_AT(speedup), "",
       "G(N) / G(N0), so 1 at N0 and N / N0 if nothing is lost; `NULL` for a label with one measured size, and for a baseline "
       "above the study's smallest size, because these were compared with nothing"},
      {"efficiency", DT_AT(efficiency), "0..1", "speedup * N0 / N, in a partition study speedup; `NULL` where that is"},
      {"efficiency_low", DT_AT(efficiency_low), "0..1",
       "lower end of the 95 % confidence interval of the efficiency; `NULL` for a baseline and with fewer than 3 runs of either "
       "size"},
      {"efficiency_high", DT_AT(efficiency_high), "0..1", "upper end of that interval"},
      {"efficiency_per_process", DT_AT(efficiency_per_process), "0..1",
       "the same per rank: speedup times the ranks of the baseline / the ranks of the point, so parameter servers count too"},
      {"baseline_size", DT_AT(baseline_size), "", "N0, the smallest measured size of the same label; `NULL`: not compared"},
      {"communication_share", DT_AT(communication_share), "0..1", "mean"},
      {"accuracy", DT_AT(accuracy), "0..1", "mean"},
      {"time_to_accuracy_s", DT_AT(time_to_accuracy_s), "s",
       "geometric mean; if a run missed its target the median, in which misses are infinite, so `NULL` if half of the runs or "
       "more missed it"},
      {"joules_per_sample", DT_AT(joules_per_sample), "J", "energy of hosts and GPUs for a sample, geometric mean"},
      {"mfu", DT_AT(mfu), "0..1", "model FLOPs utilisation, geometric mean"},
      {"reached", DT_AT(reached), "", "succeeded runs that reached their target accuracy and did not diverge"},
      {"target_runs", DT_AT(target_runs), "", "succeeded runs that have a target accuracy and did not diverge"},
  };
#undef DT_AT
  return fields;
}

std::vector<ScalingRow> scaling_of(std::span<const Run> runs, StudySizes sizes)
{
  auto points = points_of(runs);
  SmallestSizes smallest;
  for (auto& point : points) {
    summarise(point);
    smallest.nodes = std::min(smallest.nodes, point.row.nodes);
    smallest.workers = std::min(smallest.workers, point.row.workers);
  }
  std::vector<Candidate> candidates;
  for (const auto& point : points) candidates.push_back(candidate_of(point.row));
  const CandidateSet all(candidates, Scale::ratio);
  for (auto begin = points.begin(); begin != points.end();) {
    const auto end = std::find_if(begin, points.end(), [&](const Point& p) { return p.row.label != begin->row.label; });
    relate({begin, end}, smallest, sizes, all, static_cast<std::size_t>(begin - points.begin()));
    begin = end;
  }
  std::vector<ScalingRow> rows;
  for (auto& point : points) rows.push_back(std::move(point.row));
  return rows;
}

} // namespace dt::store
