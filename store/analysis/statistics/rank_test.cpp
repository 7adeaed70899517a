#include "store/analysis/statistics/rank_test.hpp"

#include "core/maths/statistics.hpp"
#include "store/analysis/statistics/welch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace dt::store {
namespace {

// Twice the rank of each value among all: whole numbers, because the shared rank of equal values may end in a half.
std::vector<std::size_t> doubled_ranks(std::span<const double> values, const std::vector<double>& sorted)
{
  std::vector<std::size_t> ranks;
  for (const double value : values) {
    const auto [first, end] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(static_cast<std::size_t>(first - sorted.begin() + 1 + (end - sorted.begin())));
  }
  return ranks;
}

// Entry s: the number of ways to choose `size` of the ranks with the sum s. One rank after the other is offered to all choices.
std::vector<double> ways_by_sum(const std::vector<std::size_t>& ranks, std::size_t size)
{
  std::size_t total = 0;
  for (const auto rank : ranks) total += rank;
  std::vector<std::vector<double>> ways(size + 1, std::vector<double>(total + 1));
  ways[0][0] = 1;
  for (const auto rank : ranks)
    for (std::size_t chosen = size; chosen > 0; --chosen)
      for (std::size_t sum = rank; sum <= total; ++sum) ways[chosen][sum] += ways[chosen - 1][sum - rank];
  return ways[size];
}

// The share of the ways whose sum is at least `distance` from `mean`.
double share_beyond(const std::vector<double>& ways, std::size_t mean, std::size_t distance)
{
  double beyond = 0, all = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    all += ways[sum];
    if ((sum > mean ? sum - mean : mean - sum) >= distance) beyond += ways[sum];
  }
  return beyond / all;
}

// The largest distance from `mean` of a sum that some way has.
std::size_t largest_distance(const std::vector<double>& ways, std::size_t mean)
{
  std::size_t largest = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum)
    if (ways[sum] > 0) largest = std::max(largest, sum > mean ? sum - mean : mean - sum);
  return largest;
}

// The variance of the sum of the ranks of a, with ties: n_a n_b / 12 (N + 1 - sum of (t^3 - t) / (N (N - 1))), where t values are
// equal to each other.
double variance_of_sum(double size_a, double size_b, const std::vector<double>& sorted)
{
  const double size = size_a + size_b;
  double ties = 0;
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto end = std::upper_bound(first, sorted.end(), *first);
    const auto equal = static_cast<double>(end - first);
    ties += equal * equal * equal - equal;
    first = end;
  }
  return size_a * size_b / 12 * (size + 1 - ties / (size * (size - 1)));
}

// The two-sided p value of a sum of ranks that is so far above its mean, by the normal distribution.
double normal_p(double above_mean, double variance)
{
  if (!(variance > 0)) return 1; // all values are equal
  const double distance = std::max(0.0, std::abs(above_mean) - 0.5);
  return std::erfc(distance / std::sqrt(2 * variance));
}

} // namespace

RankTest rank_test(std::span<const double> a, std::span<const double> b)
{
  if (a.empty() || b.empty()) return {nan, nan, nan};
  std::vector<double> sorted(a.begin(), a.end());
  sorted.insert(sorted.end(), b.begin(), b.end());
  std::sort(sorted.begin(), sorted.end());
  std::size_t sum = 0;
  for (const auto rank : doubled_ranks(a, sorted)) sum += rank;
  const std::size_t mean = a.size() * (sorted.size() + 1);
  const auto size_a = static_cast<double>(a.size()), size_b = static_cast<double>(b.size());
  const double above_mean = (static_cast<double>(sum) - static_cast<double>(mean)) / 2;
  const double rank_difference = above_mean * static_cast<double>(sorted.size()) / (size_a * size_b);
  if (sorted.size() > most_exact) return {normal_p(above_mean, variance_of_sum(size_a, size_b, sorted)), 0, rank_difference};
  const auto ways = ways_by_sum(doubled_ranks(sorted, sorted), a.size());
  return {share_beyond(ways, mean, sum > mean ? sum - mean : mean - sum), share_beyond(ways, mean, largest_distance(ways, mean)),
          rank_difference};
}

double median_with_misses(std::span<const double> times)
{
  if (times.empty()) return nan;
  const auto misses = static_cast<std::size_t>(std::count_if(times.begin(), times.end(), [](double t) { return std::isinf(t); }));
  // With two middle values, both must be finite.
  if (misses >= (times.size() + 1) / 2) return std::numeric_limits<double>::infinity();
  return median({times.begin(), times.end()});
}

} // namespace dt::store
