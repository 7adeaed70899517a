#include "cli/output/count_view.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt::cli;

TEST_CASE("a count says its rate and the time left as soon as a rate is known")
{
  CHECK(count_text(100, 24000, NAN, "images") == "100 of 24000 images");
  CHECK(count_text(12000, 24000, 200, "images") == "12000 of 24000 images, 200 images/s, about 1 min left");
}

TEST_CASE("a log gets a line at the first estimate, once a minute, and about a hundred lines in a day")
{
  LogTimes times;
  CHECK_FALSE(times.is_due(1000, false));
  CHECK_FALSE(times.is_due(1059, false));
  CHECK(times.is_due(1060, false));
  CHECK(times.is_due(1061, true));
  CHECK_FALSE(times.is_due(1062, true));
  CHECK_FALSE(times.is_due(1063, false));
  CHECK_FALSE(times.is_due(1064, true)); // not the first
  CHECK(times.is_due(1121, true));
  int lines = 0;
  for (double now = 1122; now < 1000 + 86400; ++now) lines += times.is_due(now, true);
  CHECK(lines > 50);
  CHECK(lines < 150);
}

TEST_CASE("the time left is no more precise than an estimate")
{
  CHECK(about_left(NAN) == "");
  CHECK(about_left(0) == "a few seconds left");
  CHECK(about_left(12) == "about 10 s left");
  CHECK(about_left(38.2) == "about 40 s left");
  CHECK(about_left(57) == "about 1 min left");
  CHECK(about_left(100) == "about 2 min left");
  CHECK(about_left(250) == "about 4 min left");
  CHECK(about_left(9 * 60 + 40) == "about 10 min left");
  CHECK(about_left(23 * 60) == "about 25 min left");
  CHECK(about_left(58 * 60) == "about 1 h left");
  CHECK(about_left(100 * 60) == "about 1.5 h left");
  CHECK(about_left(11.2 * 3600) == "about 11 h left");
  CHECK(about_left(75 * 3600) == "about 3 days left");
}
