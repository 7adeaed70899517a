// Differences within rounds.
#include "store/analysis/statistics/rounds.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace dt::store;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
using Values = std::vector<std::vector<double>>;

double width(Interval interval) { return interval.high - interval.low; }

// The same values with something added to all of a round.
Values shifted(Values values, const std::vector<double>& rounds)
{
  for (auto& of_candidate : values)
    for (std::size_t round = 0; round < of_candidate.size(); ++round) of_candidate[round] += rounds[round];
  return values;
}

} // namespace

TEST_CASE(
    "two candidates whose rounds differ are compared by the paired t test, others by Welch's, which has more degrees of freedom")
{
  const Rounds rounds({{10, 20, 30.3}, {9, 19.2, 29}});
  // Differences 1, 0.8, 1.3: mean 1.03333, standard deviation 0.251661; t(0.9875, 2) = 6.20535.
  const auto interval = rounds.difference(0, 1, 0.95);
  CHECK(interval.low == Approx(1.03333 - 6.20535 * 0.251661 / std::sqrt(3.0)).epsilon(1e-4));
  CHECK(interval.high == Approx(1.03333 + 6.20535 * 0.251661 / std::sqrt(3.0)).epsilon(1e-4));
  const std::vector<double> a{1.0, 1.2, 0.9}, b{0.3, 0.1, 0.2};
  const auto welch = confidence_interval(difference_of_means(moments_of(a), moments_of(b)), 0.975);
  const auto apart = Rounds({a, b}).difference(0, 1, 0.95);
  CHECK(apart.low == Approx(welch.low));
  CHECK(apart.high == Approx(welch.high));
}

TEST_CASE("what is added to all values of a round changes no interval")
{
  const Values values{{1.0, 1.2, 0.9}, {0.3, 0.1, 0.2}, {0.5, 0.2, 0.4}, {0.1, 0.4, 0.2}};
  const Rounds plain(values), drifting(shifted(values, {0, 7, -3}));
  for (const std::size_t b : {1U, 2U, 3U}) {
    CHECK(drifting.difference(0, b, 0.95).low == Approx(plain.difference(0, b, 0.95).low));
    CHECK(drifting.difference(0, b, 0.95).high == Approx(plain.difference(0, b, 0.95).high));
  }
}

TEST_CASE(
    "candidates that scatter alike narrow each other's intervals, and a pair that scatters more than the others has a wider one")
{
  const auto alike = shifted({{1.0, 1.2, 0.9}, {0.3, 0.1, 0.2}, {0.5, 0.2, 0.4}, {0.1, 0.4, 0.2}, {0.2, 0.2, 0.5}}, {0, 7, -3});
  CHECK(width(Rounds(alike).difference(0, 1, 0.99)) < width(Rounds({alike[0], alike[1]}).difference(0, 1, 0.99)) / 2);
  const Values values{{1, -9, 8, 3, -7, 5}, {-6, 9, 1, -4, 7, 2}, {0.1, 0.2, 0.1, 0.3, 0.2, 0.1}, {0.2, 0.1, 0.3, 0.1, 0.2, 0.3}};
  const Rounds rounds(values);
  CHECK(width(rounds.difference(0, 1, 0.95)) > 1.3 * width(rounds.difference(2, 3, 0.95)));
  CHECK(width(rounds.difference(2, 3, 0.95)) > 5);
}

TEST_CASE("a missing value takes its round out of its own pairs alone, and values without scatter have an interval without width")
{
  const Values whole{{1.0, 1.2, 0.9, 1.1}, {0.3, 0.1, 0.2, 0.2}, {0.5, 0.2, 0.4, 0.3}};
  auto missing = whole;
  missing[2] = {0.5, none, 0.4};
  const auto interval = Rounds(missing).difference(0, 1, 0.95);
  CHECK((interval.low + interval.high) / 2 == Approx(0.85));
  CHECK(std::isnan(Rounds(missing).difference(0, 2, 0.95).low)); // two common rounds
  const auto exact = Rounds({{1, 1, 1}, {3, 3, 3}, {2, 2, 2}}).difference(0, 1, 0.95);
  CHECK(exact.low == -2);
  CHECK(exact.high == -2);
}
