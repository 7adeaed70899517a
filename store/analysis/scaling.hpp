// Scaling analysis: pure functions over numbers.
#pragma once

#include <array>
#include <span>
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
// Coefficients of the polynomial, the constant first. The view `scaling` uses the same coefficients.
inline constexpr std::array<double, 8> student_t_975_polynomial{1.959963957, 2.372278236,  2.822195509,  2.560966037,
                                                                1.546162166, 0.9343628222, 0.1447988675, 0.356294782};

} // namespace dt::store
