#include "store/analysis/statistics/welch.hpp"

#include "store/analysis/statistics/distributions.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace dt::store {
Moments moments_of(std::span<const double> values)
{
  const auto count = static_cast<double>(values.size());
  if (values.empty()) return {nan, nan, 0};
  // Sums of distances from the first value, so that equal values have their value as mean and exactly no variance.
  double distances = 0, squares = 0;
  for (const double value : values) distances += value - values.front();
  const double mean = values.front() + distances / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, count > 1 ? squares / (count - 1) : nan, count};
}

Moments log_moments(std::span<const double> values)
{
  std::vector<double> logarithms;
  for (const double value : values) logarithms.push_back(std::log(value));
  return moments_of(logarithms);
}

Estimate difference_of_means(const Moments& a, const Moments& b)
{
  const double difference = a.mean - b.mean;
  if (a.count < least_runs || b.count < least_runs) return {difference, nan, nan};
  const double p = a.variance / a.count, q = b.variance / b.count;
  if (p + q == 0) return {difference, 0, std::numeric_limits<double>::infinity()};
  const double share = p / (p + q); // a quotient of squares would underflow for small variances
  const double freedom = 1 / (share * share / (a.count - 1) + (1 - share) * (1 - share) / (b.count - 1));
  return {difference, std::sqrt(p + q), freedom};
}

Estimate mean_of(const Moments& sample)
{
  if (sample.count < least_runs) return {sample.mean, nan, nan};
  if (sample.variance == 0) return {sample.mean, 0, std::numeric_limits<double>::infinity()};
  return {sample.mean, std::sqrt(sample.variance / sample.count), sample.count - 1};
}

Interval confidence_interval(const Estimate& estimate, double level)
{
  const double reach = student_t_quantile((1 + level) / 2, estimate.freedom) * estimate.standard_error;
  return {estimate.value - reach, estimate.value + reach};
}

double two_sided_p(const Estimate& estimate)
{
  if (estimate.standard_error == 0) return estimate.value == 0 ? 1 : 0;
  return student_t_two_sided_p(estimate.value / estimate.standard_error, estimate.freedom);
}

} // namespace dt::store
