// Scaling analysis: speed-up and efficiency of a study's points. Pure functions over the figures of runs.
#pragma once

#include "core/record/field.hpp"
#include "store/analysis/statistics/run.hpp"
#include "store/analysis/statistics/welch.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// E(N) = S(N) (N0 / N) with the speed-up S(N) = G(N) / G(N0), where G is the geometric mean of the throughputs and N0 the
// smallest measured size, whose speed-up is 1. `sample` and `base` are log_moments of the throughputs.
double efficiency(const Moments& sample, double size, const Moments& base, double base_size);

// The 95 % confidence interval of the efficiency as Welch's t gives it for the difference of two means [Welch1947], applied to
// the logarithms because throughputs scatter by factors. With the sample variance s², the number of runs n, a = s²/n and a0 =
// s0²/n0:
//
//   E exp(± t(0.975, f) sqrt(a + a0)),  f = (a + a0)² / (a²/(n - 1) + a0²/(n0 - 1))     [Satterthwaite1946]
//
// Both bounds are NaN if either sample has fewer than `least_runs` values, and if nothing scatters.
Interval efficiency_interval(const Moments& sample, double size, const Moments& base, double base_size);

// What distinguishes the points of one label in a study, and so how scaling_of() compares them.
enum class StudySizes {
  labels, // the study is no scaling study; a label with several sizes is compared with its smallest all the same
  grow,   // strong, weak or any scaling: the resources grow with the size
  parts,  // partition: the same cores, divided into more or fewer ranks, so E = S = G(p) / G(p0)
};

// Of StudyRecord::kind.
StudySizes sizes_of_kind(std::string_view kind);

// One point of a study: the runs that differ only in their repeat. scaling_fields() defines the figures.
struct ScalingRow {
  std::string label, platform{}; // platform: of its runs
  std::int64_t nodes = 0, ranks = 0, workers = 0, size = 0;
  std::int64_t runs = 0, succeeded = 0, diverged = 0, outlying = 0, copies = 0;
  double throughput = not_measured; // centre_of its runs, of which the ratios are made
  double throughput_median = not_measured;
  double throughput_min = not_measured, throughput_max = not_measured;
  double speedup = not_measured, efficiency = not_measured;
  double efficiency_low = not_measured, efficiency_high = not_measured;
  double efficiency_per_process = not_measured;
  std::int64_t baseline_size = 0;
  double communication_share = not_measured, accuracy = not_measured;
  double time_to_accuracy_s = not_measured;
  double joules_per_sample = not_measured, mfu = not_measured;
  std::int64_t reached = 0, target_runs = 0;
  // No fields of their own: Run::copies of one of its runs; throughput and round of each succeeded run that is no
  // outlier, whether they are deterministic, and the number of rounds within which the point was compared with its baseline (0:
  // as independent runs).
  std::string why_copies{};
  std::vector<double> throughputs;
  std::vector<std::string> blocks{};
  bool is_exact = false;
  std::int64_t paired_blocks = 0;
  bool is_part = false; // of StudySizes::parts; `size` is then the ranks of a node
};
// The order is that of the view `scaling`.
Fields<ScalingRow> scaling_fields();

// The points of a study, sorted by label in natural order (period=4 before period=16), then by size. `runs` holds every stored
// run of the study; A/A controls and runs that are known only by their keys (0 ranks) are left out. A label of which only one
// size was measured has no baseline.
std::vector<ScalingRow> scaling_of(std::span<const Run> runs, StudySizes sizes);

// G(N) / G(N0) of a point that loses nothing: the ratio of the sizes, or 1 between parts of the same cores.
double ideal_ratio(const ScalingRow& point, const ScalingRow& base);

// The 95 % confidence interval of the efficiency of points[point] relative to points[base], by CandidateSet of all `points`:
// within common rounds, or as above. NaN if nothing scatters. Both points have a `size`.
Interval efficiency_interval(std::span<const ScalingRow> points, std::size_t point, std::size_t base);

} // namespace dt::store
