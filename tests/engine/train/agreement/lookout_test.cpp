// How often ranks look up from training.
#include "engine/train/agreement/lookout.hpp"

#include <catch2/catch.hpp>

using dt::train::Lookout;

TEST_CASE("ranks look up about as often as they are told to, however long a step takes")
{
  const double every_s = GENERATE(0.25, 1.5);
  for (const double step_s : {0.0002, 0.004, 0.06, 0.3, 20.0}) {
    CAPTURE(step_s);
    Lookout lookout(0, every_s);
    for (std::int64_t step = 1; step <= 100'000; ++step)
      if (lookout.is_due(step)) lookout.agree(step, lookout.proposal(step_s * static_cast<double>(lookout.interval())));
    const double between_s = step_s * static_cast<double>(lookout.interval());
    CHECK((between_s <= every_s || lookout.interval() == 1));
    CHECK(between_s >= every_s / 2);
  }
}

TEST_CASE("the first look comes after the first step of an attempt, and the interval grows no faster than twofold")
{
  Lookout lookout(500);
  CHECK_FALSE(lookout.is_due(500));
  CHECK(lookout.is_due(501));
  CHECK(lookout.proposal(1e-9) == 2);
  lookout.agree(501, 2);
  CHECK_FALSE(lookout.is_due(502));
  CHECK(lookout.is_due(503));
}

TEST_CASE("a step that suddenly takes long brings the next look near")
{
  Lookout lookout(0);
  lookout.agree(1, 1000);
  CHECK(lookout.proposal(250) == 1);
}
