// Contenders compared round by round: intervals, who leaves, what comes out; and which sizes are timed.
#include "engine/comm/choice/race.hpp"
#include "engine/comm/choice/time_allreduces.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;

TEST_CASE("a paired ratio compares rounds, not times")
{
  // The machine becomes ten times slower; the first is always twice as fast.
  const std::vector<double> times{1, 10, 100, 1, 10, 100, 1}, others{2, 20, 200, 2, 20, 200, 2};
  const auto ratio = paired_ratio(times, others);
  CHECK(ratio.median == 0.5);
  CHECK(ratio.least == 0.5);
  CHECK(ratio.most == 0.5);
}

TEST_CASE("the ends of a paired ratio are the outermost rounds where these are few")
{
  const std::vector<double> ones(10, 1.0), times{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
  const auto of = [&](std::size_t rounds) { return paired_ratio(std::span(times).first(rounds), ones); };
  CHECK(of(3).most == 0.3);
  CHECK(of(3).least == 0.1);
  CHECK(of(5).most == 0.5);
  // Of ten, at most six values are below the median with a probability of 848/1024, at most seven with 968/1024.
  CHECK(of(10).most == 0.8);
  CHECK(of(10).least == 0.3);
}

TEST_CASE("rounds without a time say nothing")
{
  const auto unknown = paired_ratio(std::vector{0.0, 1.0}, std::vector{1.0, 0.0});
  CHECK(unknown.median == 1);
  CHECK(unknown.least == 0);
  CHECK(unknown.most > 1e300);
}

TEST_CASE("who is clearly slower than the fastest leaves the race, and keeps the ratio of its rounds")
{
  Race race({true, true, true});
  for (const double slowdown : {1.0, 5.0, 2.0}) race.add_round({2 * slowdown, 1 * slowdown, 1.05 * slowdown});
  race.drop_slow();
  CHECK(race.running() == std::vector<bool>{false, true, true});
  race.add_round({4, 4.2});
  CHECK(race.seconds()[1] == 3);         // the median of 1, 5, 2 and 4
  CHECK(race.seconds()[0] == Approx(6)); // twice as slow in each round that it ran
  CHECK(race.seconds()[2] == Approx(3 * 1.05));
  CHECK(race.ratio_limits()[1] == 0.5);
  CHECK(race.ratio_limits()[0] == 0);
}

TEST_CASE("one slow round of three drops nobody, and who did not enter has no time")
{
  Race race({true, false, true});
  race.add_round({1, 1});
  race.add_round({1, 9});
  race.add_round({1, 9});
  race.drop_slow();
  CHECK(race.running() == std::vector<bool>{true, false, true});
  CHECK(race.seconds()[1] == 0);
  CHECK(race.ratio_limits()[1] == 0);
  CHECK(race.ratio_limits()[2] == 9);
}

TEST_CASE("a race is open before its ninth round, while another one may be much faster, or the lead over the first may be chance")
{
  Race close({true, true});
  for (int round = 0; round < 8; ++round) {
    close.add_round({1, 1.02});
    CHECK(close.is_open());
  }
  close.add_round({1, 1.02});
  CHECK_FALSE(close.is_open());
  Race decided({true, true});
  for (int round = 0; round < 3; ++round) decided.add_round({1, 2});
  decided.drop_slow();
  CHECK_FALSE(decided.is_open()); // nobody is left to compare with
  Race noisy({true, true});
  for (const double time : {0.8, 0.8, 0.8, 1.1, 1.1, 1.2, 1.2, 1.2, 1.2}) noisy.add_round({1, time});
  CHECK(noisy.is_open());
  Race lead({true, true});
  for (const double time : {0.8, 0.85, 0.9, 0.9, 1.01, 1.01, 1.01, 0.8, 0.9}) lead.add_round({1, time});
  CHECK(lead.is_open());
  for (int round = 0; round < 7; ++round) lead.add_round({1, 0.8});
  CHECK_FALSE(lead.is_open());
}

TEST_CASE("sizes are timed from 1 KiB up to the largest sum, which is one of them")
{
  constexpr std::size_t k = 1 << 10, m = 1 << 20;
  CHECK(sizes_to_time(0) == std::vector<std::size_t>{k, 4 * k, 16 * k, 64 * k, 256 * k, m, 4 * m, 16 * m});
  CHECK(sizes_to_time(10'000'000) == std::vector<std::size_t>{k, 4 * k, 16 * k, 64 * k, 256 * k, m, 4 * m, 10'000'000});
  CHECK(sizes_to_time(1'724'322) == std::vector<std::size_t>{k, 4 * k, 16 * k, 64 * k, 256 * k, m, 1'724'320});
  CHECK(sizes_to_time(5 * m).at(6) == 5 * m); // 4 MiB would be too near
  CHECK(sizes_to_time(100) == std::vector<std::size_t>{k});
  CHECK(sizes_to_time(250'000'000).back() == 64 * m);
}
