// Scaling analysis as pure functions over numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dt::store {

// NaN for an empty sample.
double median(std::vector<double> values);
// Linear interpolation between order statistics; q in [0, 1].
double quantile(std::vector<double> values, double q);

// S(N) = throughput(N) / throughput(N0) * N0, E(N) = S(N) / N.
double speedup(double throughput, double base_throughput, double base_size);
double efficiency(double throughput, double size, double base_throughput, double base_size);

struct Interval {
  double low, high;
};

// 95% percentile bootstrap of the efficiency: a ratio, so baseline and sample are redrawn together. Deterministic.
// NaN bounds when either sample has fewer than 3 values.
Interval bootstrap_efficiency(std::span<const double> base, double base_size, std::span<const double> sample, double size);

} // namespace dt::store
