#include "store/analysis/verdict/condition_facts.hpp"

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

using namespace dt::store;

namespace {

// Two points with so many repeats each in rounds; `factor` is that of the machine at a place in the order of the runs.
template<class Factor> std::vector<ComparedPoint> points_with(std::int64_t repeats, double noise, Factor factor)
{
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<ComparedPoint> points(2);
  double place = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = {
        .candidate = i == 0 ? "ring" : "tree", .rest = "", .nodes = 1, .ranks = 2, .runs = {}, .title = i == 0 ? "ring" : "tree"};
  for (std::int64_t repeat = 0; repeat < repeats; ++repeat)
    for (auto& point : points) {
      Run run;
      run.key = point.candidate + std::to_string(repeat);
      run.series = point.candidate;
      run.nodes = 1;
      run.ranks = 2;
      run.repeat = repeat;
      run.succeeded = true;
      run.begin_unix_s = 1e9 + place;
      run.wall_s = 0.5;
      run.block = "round " + std::to_string(repeat);
      run.throughput = 100 * factor(static_cast<int>(place)) * std::exp(noise * normal(random));
      point.runs.push_back(run);
      place += 1;
    }
  return points;
}

} // namespace

TEST_CASE("the facts beside a verdict are outliers, a trend and two speeds, and none on a steady machine")
{
  const auto steady = condition_facts(points_with(6, 0.01, [](int) { return 1.0; }));
  CHECK(steady.runs == 12);
  CHECK((steady.outliers.empty() && !steady.trend && !steady.speeds && !steady.rounding_unit));

  auto outlier = points_with(6, 0.01, [](int) { return 1.0; });
  outlier[1].runs[2].throughput *= 0.7;
  outlier[1].runs[2].is_outlying = true;
  const auto facts = condition_facts(outlier);
  REQUIRE(facts.outliers.size() == 1);
  CHECK(facts.outliers[0].point == &outlier[1]);
  CHECK(facts.outliers[0].repeat == 2);
  CHECK(facts.outliers[0].ratio == Approx(0.7).epsilon(0.05));
  CHECK_FALSE(facts.trend);

  auto drifting = points_with(6, 0.01, [](int place) { return 1 - 0.01 * place; });
  REQUIRE(condition_facts(drifting).trend);
  CHECK(condition_facts(drifting).trend->change == Approx(-0.11).epsilon(0.3));
  CHECK(condition_facts(drifting).in_rounds);
  for (auto& point : drifting)
    for (auto& run : point.runs) run.block.clear();
  CHECK_FALSE(condition_facts(drifting).in_rounds);

  const auto two_speeds = condition_facts(points_with(8, 0.003, [](int place) { return place * 7 % 5 < 2 ? 0.9 : 1.0; })).speeds;
  REQUIRE(two_speeds);
  CHECK(two_speeds->of == 16);
  CHECK(two_speeds->ratio == Approx(0.9).epsilon(0.01));
  CHECK_FALSE(two_speeds->point);
  auto one_slow = points_with(10, 0.003, [](int) { return 1.0; });
  for (const auto run : {3, 7}) one_slow[1].runs[static_cast<std::size_t>(run)].throughput *= 0.5;
  REQUIRE(condition_facts(one_slow).speeds);
  CHECK(condition_facts(one_slow).speeds->slow == 2);
  CHECK(condition_facts(one_slow).speeds->point == std::optional<std::size_t>(1));

  auto rounded = points_with(6, 0.01, [](int) { return 1.0; });
  int number = 0;
  for (auto& point : rounded)
    for (auto& run : point.runs) run.throughput = number++ % 3 == 0 ? 11 : 10;
  CHECK(condition_facts(rounded).rounding_unit == std::optional<double>(1));
  CHECK_FALSE(condition_facts(rounded).speeds);

  for (auto& point : drifting)
    for (auto& run : point.runs) run.platform = "fat-tree";
  CHECK_FALSE(condition_facts(drifting).trend); // simulated: no machine drifts
}

TEST_CASE("an outlying run has no part in throughput and step time, and counts for accuracy, and a run counts once")
{
  auto runs = points_with(4, 0.01, [](int) { return 1.0; })[0].runs;
  for (auto& run : runs) run.accuracy = 0.9, run.step_s = 1;
  runs[1].is_outlying = true;
  runs.push_back(runs[0]); // the same run, from another study
  const auto speed = sample_of("ring", runs, Metric::throughput);
  CHECK(speed.candidate.values.size() == 3);
  CHECK(speed.outlying == 1);
  CHECK(speed.runs == 4);
  CHECK(sample_of("ring", runs, Metric::step_time).candidate.values.size() == 3);
  CHECK(sample_of("ring", runs, Metric::accuracy).candidate.values.size() == 4);
}
