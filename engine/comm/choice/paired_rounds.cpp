#include "engine/comm/choice/paired_rounds.hpp"
#include "core/maths/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dt::comm {
namespace {

constexpr double confidence = 0.9; // for each limit

// Index of the smallest of `count` sorted values that is an upper confidence limit of the true median. The number of values below
// the median has a binomial distribution.
std::size_t upper_place(std::size_t count)
{
  // below: probability that at most `place` values are below the median
  double share = std::pow(0.5, static_cast<double>(count)), below = share;
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

} // namespace dt::comm
