// Scaling analysis: speed-up and efficiency of a study's points. Pure functions over the figures of runs.
#pragma once

#include "core/record/field.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// The mean and the sample variance of the values' natural logarithms. All values must be above 0.
struct LogSample {
  double mean = 0;     // NaN without values
  double variance = 0; // NaN with fewer than two values
  double count = 0;
};
LogSample log_sample(std::span<const double> values);

// E(N) = (G(N) / G(N0)) (N0 / N), where G is the geometric mean of the throughputs. The speed-up S(N) is E(N) N.
double efficiency(const LogSample& sample, double size, const LogSample& base, double base_size);

struct Interval {
  double low, high;
};

// Minimum number of runs of each size for an interval: the variance of two values is almost meaningless.
inline constexpr double least_runs = 3;

// The 95 % confidence interval of the efficiency. It is Welch's t interval for the difference of two means [Welch1947], applied
// to the logarithms because throughputs scatter by factors. With the sample variance s², the number of runs n, a = s²/n and a0 =
// s0²/n0:
//
//   E exp(± t(0.975, f) sqrt(a + a0)),  f = (a + a0)² / (a²/(n - 1) + a0²/(n0 - 1))     [Satterthwaite1946]
//
// Both bounds are NaN if either sample has fewer than `least_runs` values.
Interval efficiency_interval(const LogSample& sample, double size, const LogSample& base, double base_size);

// Student's t(0.975, f) for f >= 2 degrees of freedom, which need not be whole. A polynomial in 1/f with a relative error below
// 2e-8.
double student_t_975(double freedom);
// Coefficients of the polynomial, the constant first.
inline constexpr std::array<double, 8> student_t_975_polynomial{1.959963957, 2.372278236,  2.822195509,  2.560966037,
                                                                1.546162166, 0.9343628222, 0.1447988675, 0.356294782};

// A run of a study, with the figures that scaling is computed from. A figure that was not measured is NaN.
struct MeasuredRun {
  std::string series; // label without the size
  std::int64_t nodes = 0, ranks = 0;
  std::int64_t workers = 0;   // ranks that train
  bool succeeded = false;     // the figures of any other run do not count
  double target_accuracy = 0; // 0: no target
  double throughput = not_measured, communication_share = not_measured, accuracy = not_measured;
  double time_to_accuracy_s = not_measured;
};

// One point of a study: the runs that differ only in their repeat. scaling_fields() defines the figures.
struct ScalingRow {
  std::string label;
  std::int64_t nodes = 0, ranks = 0, workers = 0, size = 0;
  std::int64_t runs = 0, succeeded = 0;
  double throughput = not_measured, throughput_min = not_measured, throughput_max = not_measured;
  double throughput_geometric_mean = not_measured;
  double speedup = not_measured, efficiency = not_measured;
  double efficiency_low = not_measured, efficiency_high = not_measured;
  std::int64_t baseline_size = 0;
  double communication_share = not_measured, accuracy = not_measured;
  double time_to_accuracy_s = not_measured;
  std::int64_t reached = 0, target_runs = 0;
  std::vector<double> throughputs; // of the succeeded runs; no field of its own
};
// The order is that of the view `scaling`.
Fields<ScalingRow> scaling_fields();

// The points of a study, sorted by label in natural order (period=4 before period=16), then by size. `runs` holds every stored
// run of the study except its A/A controls. Outside a scaling study (strong or weak), a label with a single size has no baseline.
std::vector<ScalingRow> scaling_of(std::span<const MeasuredRun> runs, bool is_scaling_study);

} // namespace dt::store
