// Confidence intervals and p values for means, and for differences of two means by Welch's t [Welch1947].
#pragma once

#include <limits>
#include <span>

namespace dt::store {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Mean and variance of a sample.
struct Moments {
  double mean = 0;     // NaN without values
  double variance = 0; // sample variance, with n - 1 below; NaN with fewer than two values, exactly 0 if all values are equal
  double count = 0;
};
Moments moments_of(std::span<const double> values);
// The moments of the values' natural logarithms. All values must be above 0.
Moments log_moments(std::span<const double> values);

struct Interval {
  double low, high;
};

// Minimum number of runs of each sample for an interval: the variance of two values is almost meaningless.
inline constexpr double least_runs = 3;

// An estimated mean or difference of means. Its error, divided by standard_error, follows Student's t with `freedom` degrees of
// freedom. If the sample or one of the samples has fewer than `least_runs` values, standard_error and freedom are NaN. If no
// sample scatters, standard_error is 0 and freedom is infinite.
struct Estimate {
  double value, standard_error, freedom;
};

// mean(a) - mean(b). With the sample variance s² and the number of values n of each sample, p = s²/n and q = s²/n of a and b:
//
//   standard error sqrt(p + q),  freedom (p + q)² / (p²/(n_a - 1) + q²/(n_b - 1))     [Satterthwaite1946]
Estimate difference_of_means(const Moments& a, const Moments& b);

// The mean of one sample: standard error sqrt(s²/n), n - 1 degrees of freedom.
Estimate mean_of(const Moments& sample);

// value ± t((1 + level)/2, freedom) standard_error; 0 < level < 1. Both bounds are NaN if the standard error is NaN.
Interval confidence_interval(const Estimate& estimate, double level);

// The two-sided p value of the hypothesis that the true value is 0. NaN if the standard error is NaN. If the standard error is 0:
// 1 for the value 0, otherwise 0.
double two_sided_p(const Estimate& estimate);

} // namespace dt::store
