#include "store/analysis/statistics/rank_test.hpp"

#include "core/maths/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;

namespace {

constexpr double miss = std::numeric_limits<double>::infinity();
using Values = std::vector<double>;

RankTest test_of(const Values& a, const Values& b) { return rank_test(a, b); }

// The sum over pairs (x of a, y of b) of 1 if x > y and 1/2 if they are equal: Mann and Whitney's U, which needs no ranks.
double u_of(const Values& a, const Values& b)
{
  double u = 0;
  for (const double x : a)
    for (const double y : b) u += x > y ? 1 : x == y ? 0.5 : 0;
  return u;
}

struct PValues {
  double p, smallest;
};

// Both p values by dividing all values in every possible way.
PValues enumerated(const Values& a, const Values& b)
{
  Values all = a;
  all.insert(all.end(), b.begin(), b.end());
  const double middle = static_cast<double>(a.size() * b.size()) / 2;
  std::vector<double> distances;
  for (unsigned chosen = 0; chosen < 1U << all.size(); ++chosen) {
    if (std::popcount(chosen) != static_cast<int>(a.size())) continue;
    Values first, second;
    for (std::size_t i = 0; i < all.size(); ++i) (chosen >> i & 1 ? first : second).push_back(all[i]);
    distances.push_back(std::abs(u_of(first, second) - middle));
  }
  const auto share_from = [&](double distance) {
    const auto count = std::count_if(distances.begin(), distances.end(), [&](double d) { return d >= distance; });
    return static_cast<double>(count) / static_cast<double>(distances.size());
  };
  return {share_from(std::abs(u_of(a, b) - middle)), share_from(*std::max_element(distances.begin(), distances.end()))};
}

} // namespace

TEST_CASE("the rank test has the p values of the tables, and equal values share a rank")
{
  CHECK(test_of({1, 2, 3}, {4, 5, 6}).p == Approx(2 / 20.0));
  CHECK(test_of({1, 2, 3, 4}, {5, 6, 7, 8}).p == Approx(2 / 70.0));
  CHECK(test_of({1, 2, 3, 5, 7}, {4, 6, 8, 9, 10}).p == Approx(14 / 252.0)); // U = 3
  CHECK(test_of({1, 2, 3, 4, 7}, {5, 6, 8, 9, 10}).p == Approx(8 / 252.0));  // U = 2
  // Ranks 1, 2.5 and 2.5, 4. The six sums of two of them are 3.5, 3.5, 5, 5, 6.5, 6.5.
  const auto test = test_of({1, 2}, {2, 3});
  CHECK(test.p == Approx(4 / 6.0));
  CHECK(test.smallest_p == Approx(4 / 6.0));
  CHECK(test.rank_difference == Approx(1.75 - 3.25));
}

TEST_CASE("the rank test counts what an enumeration of all divisions counts")
{
  Random random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const auto few = [&](std::uint64_t size) {
      Values values;
      for (std::uint64_t i = 0; i < size; ++i) {
        const auto drawn = random.below(7);
        values.push_back(drawn == 6 ? miss : static_cast<double>(drawn));
      }
      return values;
    };
    const auto a = few(1 + random.below(5)), b = few(1 + random.below(6));
    CAPTURE(a, b);
    const auto truth = enumerated(a, b);
    CHECK(test_of(a, b).p == Approx(truth.p));
    CHECK(test_of(a, b).smallest_p == Approx(truth.smallest));
  }
}

TEST_CASE("swapping the samples keeps the p values and turns the direction")
{
  const Values a{1, 4, miss}, b{2, 3, 5, 9, miss};
  CHECK(test_of(a, b).p == Approx(test_of(b, a).p));
  CHECK(test_of(a, b).smallest_p == Approx(test_of(b, a).smallest_p));
  CHECK(test_of(a, b).rank_difference == Approx(-test_of(b, a).rank_difference));
}

TEST_CASE(
    "if all runs missed their target, the samples do not differ and p is 1, and the median of times counts misses as infinite")
{
  const auto test = test_of({miss, miss, miss}, {miss, miss});
  CHECK(test.p == 1);
  CHECK(test.smallest_p == 1);
  CHECK(test.rank_difference == 0);
  CHECK(std::isnan(test_of({}, {1, 2}).p));
  CHECK(median_with_misses(Values{3, 1, miss}) == 3);
  CHECK(median_with_misses(Values{1, 3, 5, miss}) == 4);
  CHECK(median_with_misses(Values{1, miss}) == miss);
  CHECK(median_with_misses(Values{1, miss, miss}) == miss);
  CHECK(median_with_misses(Values{1, miss, miss, miss}) == miss);
  CHECK(std::isnan(median_with_misses(Values{})));
}

TEST_CASE("a large sample's exact p value is near that of the normal distribution")
{
  Values a, b;
  for (int i = 0; i < 15; ++i) {
    a.push_back(2 * i);
    b.push_back(2 * i + 9);
  }
  const double u = u_of(a, b), sigma = std::sqrt(15 * 15 * 31 / 12.0);
  CHECK(test_of(a, b).p == Approx(std::erfc((std::abs(u - 112.5) - 0.5) / sigma / std::sqrt(2.0))).epsilon(0.12));
}

TEST_CASE("thousands of values are compared by the normal distribution, ties and misses included")
{
  Values a, b;
  for (int i = 0; i < 1000; ++i) {
    a.push_back(i % 10 == 0 ? miss : i % 7);
    b.push_back(i % 10 < 2 ? miss : i % 7);
  }
  CHECK(test_of(a, b).p < 0.01);
  CHECK(test_of(a, b).rank_difference < 0);
  CHECK(test_of(a, a).p == 1);
  CHECK(test_of(Values(50, miss), Values(50, miss)).p == 1);
}
