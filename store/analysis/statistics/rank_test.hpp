// The test of Mann and Whitney for two samples of times in which some runs missed their target. Pure functions.
#pragma once

#include <cstddef>
#include <span>

namespace dt::store {

// The test's result. The hypothesis: both samples come from one distribution.
struct RankTest {
  // Share of all ways to divide the values into samples of these sizes in which the sum of the ranks is at least as far from its
  // mean as it was observed (two-sided). NaN if a sample is empty.
  double p;
  // The p value of the most extreme of these ways: no outcome with these values could have had a smaller one.
  double smallest_p;
  // Mean rank of a less mean rank of b: below 0 if the values of a tend to be smaller.
  double rank_difference;
};

// Compares the samples by the sums of their ranks [MannWhitney1947]. Equal values share the mean of their ranks, and infinite
// values (misses) are equal to each other. Up to `most_exact` values together, p is exact for any sizes and ties: all ways are
// counted. The time of that grows with the fourth power of the number of values: 100 values take about 0.1 s. Of more values, p
// comes from the normal distribution with the variance of tied ranks and a continuity correction, and smallest_p is 0. No value
// may be NaN.
inline constexpr std::size_t most_exact = 30;
RankTest rank_test(std::span<const double> a, std::span<const double> b);

// The median of times in which infinity stands for a miss: infinite if half of the runs or more missed. NaN without values.
double median_with_misses(std::span<const double> times);

} // namespace dt::store
