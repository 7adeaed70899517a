// How often ranks check for requests.
#include "engine/train/agreement/request_agreement.hpp"

#include <catch2/catch.hpp>

using dt::train::CheckSchedule;

TEST_CASE("ranks check about as often as they are told to, however long a step takes")
{
  const double every_s = GENERATE(0.25, 1.5);
  for (const double step_s : {0.0002, 0.004, 0.06, 0.3, 20.0}) {
    CAPTURE(step_s);
    CheckSchedule schedule(0, every_s);
    for (std::int64_t step = 1; step <= 100'000; ++step)
      if (schedule.is_due(step)) schedule.agree(step, schedule.proposal(step_s * static_cast<double>(schedule.interval())));
    const double between_s = step_s * static_cast<double>(schedule.interval());
    CHECK((between_s <= every_s || schedule.interval() == 1));
    CHECK(between_s >= every_s / 2);
  }
}

TEST_CASE("the first check comes after the first step of an attempt, and the interval grows no faster than twofold")
{
  CheckSchedule schedule(500);
  CHECK_FALSE(schedule.is_due(500));
  CHECK(schedule.is_due(501));
  CHECK(schedule.proposal(1e-9) == 2);
  schedule.agree(501, 2);
  CHECK_FALSE(schedule.is_due(502));
  CHECK(schedule.is_due(503));
}

TEST_CASE("a step that suddenly takes long brings the next check near")
{
  CheckSchedule schedule(0);
  schedule.agree(1, 1000);
  CHECK(schedule.proposal(250) == 1);
}
