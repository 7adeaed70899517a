// Median and quantiles: the one definition that all of dtctl and dtengine use.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace dt {

// The q-quantile, q in [0, 1], of values in ascending order: linear interpolation between the two nearest order statistics
// [HyndmanFan1996, definition 7]. NaN when there are no values. A value may be infinite.
template<class Number> double quantile_of_sorted(std::span<const Number> ascending, double q)
{
  if (ascending.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double place = q * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double rest = place - static_cast<double>(below);
  const auto low = static_cast<double>(ascending[below]);
  return rest == 0 ? low : std::lerp(low, static_cast<double>(ascending[below + 1]), rest); // lerp of infinities would be NaN
}

// The same of values in any order.
inline double quantile(std::vector<double> values, double q)
{
  std::sort(values.begin(), values.end());
  return quantile_of_sorted(std::span<const double>(values), q);
}

// The middle value, or the mean of the two middle values. NaN when there are no values.
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

} // namespace dt
