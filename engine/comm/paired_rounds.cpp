#include "engine/comm/paired_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dt::engine {
namespace {

constexpr double confidence = 0.9; // of each end

// Of so many sorted values, the first that the true median exceeds rarely enough: the number of values below the median is binomial.
std::size_t upper_place(std::size_t count)
{
  double share = std::pow(0.5, static_cast<double>(count)), below = share; // that at most `place` values are below the median
  std::size_t place = 0;
  for (; place + 1 < count && below < confidence; ++place) {
    share *= static_cast<double>(count - place) / static_cast<double>(place + 1);
    below += share;
  }
  return place;
}

} // namespace

PairedRatio paired_ratio(std::span<const double> times, std::span<const double> others)
{
  std::vector<double> ratios;
  for (std::size_t r = 0; r < std::min(times.size(), others.size()); ++r)
    if (const double ratio = times[r] / others[r]; std::isfinite(ratio) && ratio > 0) ratios.push_back(ratio);
  if (ratios.empty()) return {1, 0, std::numeric_limits<double>::infinity()};
  std::ranges::sort(ratios);
  const auto upper = upper_place(ratios.size());
  return {median(ratios), ratios[ratios.size() - 1 - upper], ratios[upper]};
}

double median(std::vector<double> values)
{
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

} // namespace dt::engine
