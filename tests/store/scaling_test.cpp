#include "store/scaling.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt::store;

TEST_CASE("the median is the middle value, or the mean of the two middle ones")
{
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(median({7}) == 7);
  CHECK(std::isnan(median({})));
}

TEST_CASE("a quantile is interpolated between order statistics")
{
  CHECK(quantile({10, 20, 30, 40, 50}, 0.25) == 20);
  CHECK(quantile({0, 10}, 0.3) == Approx(3));
  CHECK(quantile({5, 1, 3}, 0) == 1);
  CHECK(quantile({5, 1, 3}, 1) == 5);
}

TEST_CASE("speed-up and efficiency follow their definitions")
{
  CHECK(speedup(300, 100, 1) == Approx(3));
  CHECK(speedup(300, 100, 2) == Approx(6)); // a base of 2 ranks counts as a speed-up of 2
  CHECK(efficiency(300, 4, 100, 1) == Approx(0.75));
  CHECK(efficiency(300, 8, 100, 2) == Approx(0.75));
  CHECK(efficiency(100, 2, 100, 2) == 1);
}

TEST_CASE("the bootstrap interval holds the efficiency and is the same every time")
{
  const std::vector<double> base{98, 99, 100, 101, 102}, sample{360, 370, 380, 390, 400};
  const auto first = bootstrap_efficiency(base, 1, sample, 4), second = bootstrap_efficiency(base, 1, sample, 4);
  CHECK(first.low == second.low);
  CHECK(first.high == second.high);
  CHECK(first.low < 0.95);
  CHECK(first.high > 0.95);
  // No redraw can leave the extremes of both samples.
  CHECK(first.low >= 360.0 / 102 / 4);
  CHECK(first.high <= 400.0 / 98 / 4);
}

TEST_CASE("the bootstrap interval widens with the spread of the base alone")
{
  const std::vector<double> steady{100, 100, 100}, wide{80, 100, 120}, sample{200, 200, 200};
  const auto narrow = bootstrap_efficiency(steady, 1, sample, 2), broad = bootstrap_efficiency(wide, 1, sample, 2);
  CHECK(narrow.low == Approx(1));
  CHECK(narrow.high == Approx(1));
  CHECK(broad.low < 0.9);
  CHECK(broad.high > 1.1);
}

TEST_CASE("the bootstrap interval covers the true efficiency about as often as it says")
{
  // 200 experiments of 9 + 9 values drawn evenly from +-10% round 100 and 380: true efficiency 0.95.
  std::uint64_t state = 1;
  const auto draw = [&](double centre) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return centre * (0.9 + 0.2 * static_cast<double>(state >> 11) / 9007199254740992.0);
  };
  int covered = 0;
  for (int experiment = 0; experiment < 200; ++experiment) {
    std::vector<double> base, sample;
    for (int i = 0; i < 9; ++i) base.push_back(draw(100)), sample.push_back(draw(380));
    const auto interval = bootstrap_efficiency(base, 1, sample, 4);
    if (interval.low <= 0.95 && 0.95 <= interval.high) ++covered;
  }
  CHECK(covered >= 180); // 95% of 200 is 190
}

TEST_CASE("fewer than three repeats have no interval")
{
  const std::vector<double> two{1, 2}, three{1, 2, 3};
  CHECK(std::isnan(bootstrap_efficiency(two, 1, three, 2).low));
  CHECK(std::isnan(bootstrap_efficiency(three, 1, two, 2).high));
}
