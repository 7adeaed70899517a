#include "cli/output/pace.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using dt::cli::Pace;

TEST_CASE("a pace needs two different counts")
{
  Pace pace;
  CHECK(std::isnan(pace.per_s()));
  pace.add(100, 7);
  pace.add(101, 7);
  CHECK(std::isnan(pace.per_s()));
  pace.add(102, 27);
  CHECK(pace.per_s() == Approx(10));
}

TEST_CASE("a slow start and a checkpoint in the window do not change the pace, and counts that come once in minutes have one too")
{
  Pace slow_start, seldom;
  slow_start.add(0, 1);
  for (int i = 0; i < 10; ++i) slow_start.add(20 + i, 2 + 5 * i);
  CHECK(slow_start.per_s() == Approx(5));
  for (int i = 0; i < 5; ++i) seldom.add(200 * i, i);
  CHECK(seldom.per_s() == Approx(0.005));
  Pace pace;
  double time = 0;
  for (int i = 0; i < 40; ++i) {
    time += i == 23 ? 15 : 1;
    pace.add(time, 8 * i);
  }
  CHECK(pace.per_s() == Approx(8));
}

TEST_CASE("a pace follows a rate that has changed for a minute")
{
  Pace pace;
  for (int second = 0; second <= 300; ++second) pace.add(second, 100 * second);
  for (int second = 301; second <= 361; ++second) pace.add(second, 30000 + 20 * (second - 300));
  CHECK(pace.per_s() == Approx(20));
}

TEST_CASE("a smaller count is another attempt, whose pace begins anew")
{
  Pace pace;
  for (int i = 0; i < 10; ++i) pace.add(i, 100 * i);
  pace.add(50, 10);
  CHECK(std::isnan(pace.per_s()));
  pace.add(51, 13);
  CHECK(pace.per_s() == Approx(3));
}
