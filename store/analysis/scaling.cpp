#include "store/analysis/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dt::store {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

// Welch and Satterthwaite's degrees of freedom of the sum of two squared standard errors.
double freedom_of(double a, double n, double a0, double n0)
{
  return (a + a0) * (a + a0) / (a * a / (n - 1) + a0 * a0 / (n0 - 1));
}

} // namespace

LogSample log_sample(std::span<const double> values)
{
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += std::log(value);
  const double mean = sum / count;
  for (const double value : values) squares += (std::log(value) - mean) * (std::log(value) - mean);
  return {mean, count > 1 ? squares / (count - 1) : nan_value, count};
}

double efficiency(const LogSample& sample, double size, const LogSample& base, double base_size)
{
  return std::exp(sample.mean - base.mean) * base_size / size;
}

Interval efficiency_interval(const LogSample& sample, double size, const LogSample& base, double base_size)
{
  if (sample.count < least_runs || base.count < least_runs) return {nan_value, nan_value};
  const double centre = efficiency(sample, size, base, base_size);
  const double a = sample.variance / sample.count, a0 = base.variance / base.count;
  if (a + a0 == 0) return {centre, centre}; // no scatter: the degrees of freedom are undefined
  const double reach = student_t_975(freedom_of(a, sample.count, a0, base.count)) * std::sqrt(a + a0);
  return {centre * std::exp(-reach), centre * std::exp(reach)};
}

double student_t_975(double freedom)
{
  double value = 0;
  for (auto c = student_t_975_polynomial.rbegin(); c != student_t_975_polynomial.rend(); ++c) value = value / freedom + *c;
  return value;
}

} // namespace dt::store
