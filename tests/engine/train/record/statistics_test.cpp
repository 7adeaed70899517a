// Phase times: sums, percentiles, and phases that stay within their step.
#include "engine/train/record/statistics.hpp"
#include "engine/train/step/step_timer.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace dt;
using namespace dt::train;
using dt::Phase;

TEST_CASE("quantiles are interpolated between samples, whatever the order of arrival")
{
  TimeSeries series;
  for (int i = 0; i < 100; ++i) series.add((i * 37) % 100 + 1); // 1 … 100
  const auto stats = series.summary();
  CHECK(stats.total_s == 5050);
  CHECK(stats.mean_s == Approx(50.5));
  CHECK(stats.p50_s == Approx(50.5));
  CHECK(stats.p95_s == Approx(95.05));
  CHECK(stats.p99_s == Approx(99.01));
  CHECK(stats.max_s == 100);
}

TEST_CASE("one sample is every percentile of itself, none is zero")
{
  TimeSeries series;
  CHECK(series.summary().max_s == 0);
  series.add(3);
  for (const auto value : {series.summary().p50_s, series.summary().p95_s, series.summary().p99_s, series.summary().max_s})
    CHECK(value == 3);
}

TEST_CASE("a record gets each phase's own samples, and evaluations do not count as part of steps")
{
  StepStatistics statistics;
  statistics.add_step({1, 2, 3, 4, 5, 99}, 16);
  statistics.add_step({1, 2, 3, 4, 5, 99}, 18);
  statistics.add_evaluation(7);
  dt::RankRecord record;
  statistics.fill(record);
  CHECK(record.phases[static_cast<std::size_t>(Phase::input)].total_s == 2);
  CHECK(record.phases[static_cast<std::size_t>(Phase::optimizer)].total_s == 10);
  CHECK(record.phases[static_cast<std::size_t>(Phase::evaluation)].total_s == 7);
  CHECK(record.step.total_s == 34);
}

TEST_CASE("phases of a step sum to no more than the step, and the next step begins at zero")
{
  StepTimer timer;
  timer.begin_step();
  timer.begin_communication();
  timer.end_communication();
  timer.begin_update();
  timer.end_update();
  const double step_s = timer.end_step();
  const auto& phases = timer.phases();
  CHECK(phases[static_cast<std::size_t>(Phase::communication)] > 0);
  CHECK(phases[static_cast<std::size_t>(Phase::optimizer)] > 0);
  CHECK(std::accumulate(phases.begin(), phases.end(), 0.0) <= step_s);
  timer.begin_step();
  for (const double phase : timer.phases()) CHECK(phase == 0);
}
