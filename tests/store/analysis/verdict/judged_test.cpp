#include "tests/store/analysis/verdict/judged_runs.hpp"

#include <catch2/catch.hpp>

using namespace dt::store;
using namespace dt::store::test;

TEST_CASE(
    "a planted difference of 10 % is found with effect and interval, and what differs by less than the margin is equivalent")
{
  const auto found = by_throughput({110, 111, 109}, {100, 101, 99});
  CHECK(finding_of(found) == Finding::faster);
  CHECK(found.comparison.effect == Approx(1.1).epsilon(0.001));
  CHECK(found.comparison.interval.low == Approx(1.075).epsilon(0.005));
  CHECK(finding_of(by_throughput({100, 101, 99}, {110, 111, 109})) == Finding::slower);
  CHECK(finding_of(by_throughput({100, 100.1, 99.9}, {100.2, 100.1, 100}, 0.02)) == Finding::equivalent);
}

TEST_CASE("two samples of equals give no verdict, but what would decide")
{
  const auto found = by_throughput({100, 104, 96}, {101, 97, 103}, 0.02);
  CHECK(finding_of(found) == Finding::cannot_tell);
  CHECK(is_decidable(found));
  const auto more = more_repeats(found.comparison);
  REQUIRE(more.decides);
  CHECK(found.more.per_side == more.per_side);
  CHECK(found.more_node_hours == Approx(2 * static_cast<double>(more.per_side)));
}

TEST_CASE("below three runs there is no interval, but the smallest difference that could be resolved")
{
  const auto two = by_throughput({100, 102}, {110, 112});
  CHECK_FALSE(is_decidable(two));
  CHECK(std::isnan(two.comparison.interval.low));
  CHECK(two.resolvable > 0);
  CHECK(two.more.per_side >= 1);
  const auto one = by_throughput({100}, {110});
  CHECK(std::isnan(one.resolvable));
  CHECK(one.more.per_side == 2);
}

TEST_CASE("below three runs the scatter of the study's other points tells what could be resolved")
{
  const std::vector<Candidate> others{{"x", {100, 102, 98}}, {"y", {50, 51, 49}}};
  const auto scatter = pooled_scatter(others, Scale::ratio);
  CHECK(scatter.freedom == 4);
  const auto a = sample_of("A", runs_of({100}), Metric::throughput), b = sample_of("B", runs_of({110}), Metric::throughput);
  CHECK(judge("point", Metric::throughput, a, b, {}, scatter).resolvable ==
        Approx(resolvable_difference(scatter.cv, 4, 1, 1, 0.95)));
}

TEST_CASE("a run that missed its target counts as the slowest, not as missing, and a target that nobody reached decides nothing")
{
  const auto found = by_time({1, 2, 3, 4}, {5, 6, miss, miss});
  CHECK(found.comparison.method == Method::ranks);
  CHECK(finding_of(found) == Finding::faster);
  CHECK(found.b.reached == 2);
  CHECK(found.b.with_target == 4);
  CHECK(is_regression(by_time({5, 6, miss, miss}, {1, 2, 3, 4})));
  CHECK_FALSE(is_regression(found));
  const auto none = by_time({miss, miss, miss}, {miss, miss, miss});
  CHECK(finding_of(none) == Finding::cannot_tell);
  CHECK_FALSE(is_regression(none));
  CHECK(none.a.reached + none.b.reached == 0);
}

TEST_CASE("three against three times with a miss cannot decide, and it is known how many would")
{
  const auto found = by_time({1, 2, 3}, {4, 5, miss});
  CHECK(finding_of(found) == Finding::cannot_tell);
  CHECK(found.comparison.smallest_p > 0.05);
  CHECK(found.more.decides);
  CHECK(found.more.per_side == 1);
}

TEST_CASE("a sample without values is no verdict, and never a regression, and the reason is known")
{
  auto failed = runs_of({100, 100, 100});
  for (auto& run : failed) run.succeeded = false;
  const auto found = judged(failed, runs_of({100, 101, 99}), Metric::throughput);
  CHECK(finding_of(found) == Finding::no_data);
  CHECK_FALSE(is_regression(found));
  CHECK(why_no_value(found.a, Metric::throughput) == NoValue::none_succeeded);
  CHECK(why_no_value(found.b, Metric::throughput) == NoValue::has_values);
  auto copies = runs_of({0, 0}), diverged = timed_runs({1, 2});
  const auto why = [](const std::vector<Run>& runs, Metric metric) { return why_no_value(sample_of("", runs, metric), metric); };
  CHECK(why(copies, Metric::throughput) == NoValue::not_recorded);
  for (auto& run : copies) run.copies = "the 2 ranks are 2 copies";
  CHECK(why(copies, Metric::throughput) == NoValue::copies);
  for (auto& run : diverged) run.has_diverged = true;
  CHECK(why(diverged, Metric::time_to_target) == NoValue::all_diverged);
}

TEST_CASE("a regression needs the whole interval beyond the margin, and the same runs are the same, whatever their figures show")
{
  CHECK(is_regression(by_throughput({89, 90, 91}, {99, 100, 101}, 0.02)));
  CHECK_FALSE(is_regression(by_throughput({89, 90, 91}, {99, 100, 101}, 0.1)));
  CHECK(finding_of(by_throughput({89, 90, 91}, {99, 100, 101}, 0.1)) == Finding::slower);
  CHECK_FALSE(is_regression(by_throughput({70, 90, 110}, {99, 100, 101}, 0.02)));
  const auto same = of_same_runs(by_throughput({70, 90, 110}, {99, 100, 101}));
  CHECK(finding_of(same) == Finding::same_runs);
  CHECK_FALSE(is_regression(same));
}

TEST_CASE("runs of a ladder are compared within their blocks, where a drift of the machine cancels out")
{
  auto a = runs_of({100, 80, 60, 40}), b = runs_of({105, 84, 63.1, 42});
  CHECK(judged(a, b, Metric::throughput).comparison.verdict == Verdict::cannot_tell);
  for (std::size_t i = 0; i < 4; ++i) a[i].block = b[i].block = "17 " + std::to_string(i);
  const auto found = judged(a, b, Metric::throughput);
  CHECK(found.comparison.design == Design::paired);
  CHECK(found.comparison.verdict == Verdict::slower);
  b[0].block = b[1].block = "other";
  CHECK(judged(a, b, Metric::throughput).comparison.method == Method::ratio);
}
