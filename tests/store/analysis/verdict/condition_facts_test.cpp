#include "store/analysis/verdict/condition_facts.hpp"

#include "store/analysis/verdict/verdict.hpp"

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

using namespace dt::store;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

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

TEST_CASE("the facts beside a verdict name outliers, a trend and two speeds, and nothing on a steady machine")
{
  CHECK(condition_facts(points_with(6, 0.01, [](int) { return 1.0; })).empty());

  auto outlier = points_with(6, 0.01, [](int) { return 1.0; });
  outlier[1].runs[2].throughput *= 0.7;
  outlier[1].runs[2].is_outlying = true;
  const auto facts = condition_facts(outlier);
  REQUIRE(facts.size() == 1);
  CHECK_THAT(facts[0], StartsWith("1 of 12 runs is an outlier in throughput and does not count: tree, 2 ranks #3 (-3"));

  auto drifting = points_with(6, 0.01, [](int place) { return 1 - 0.01 * place; });
  REQUIRE(condition_facts(drifting).size() == 1);
  CHECK_THAT(condition_facts(drifting)[0],
             StartsWith("the throughput changed by -1") && Contains("which rounds keep out of the comparison"));
  for (auto& point : drifting)
    for (auto& run : point.runs) run.block.clear();
  CHECK_THAT(condition_facts(drifting)[0], Contains("were not measured in rounds"));

  const auto two_speeds = condition_facts(points_with(8, 0.003, [](int place) { return place * 7 % 5 < 2 ? 0.9 : 1.0; }));
  REQUIRE(two_speeds.size() == 1);
  CHECK_THAT(two_speeds[0],
             Contains("of 16 runs are 10.") && Contains("slower than the others of their candidate, as on a machine"));
  auto one_slow = points_with(10, 0.003, [](int) { return 1.0; });
  for (const auto run : {3, 7}) one_slow[1].runs[static_cast<std::size_t>(run)].throughput *= 0.5;
  REQUIRE(condition_facts(one_slow).size() == 1);
  CHECK_THAT(condition_facts(one_slow)[0], StartsWith("2 of 20 runs are 49.") && EndsWith("two speeds, all of tree, 2 ranks"));

  auto rounded = points_with(6, 0.01, [](int) { return 1.0; });
  int number = 0;
  for (auto& point : rounded)
    for (auto& run : point.runs) run.throughput = number++ % 3 == 0 ? 11 : 10;
  CHECK(condition_facts(rounded) ==
        std::vector<std::string>{
            "the throughputs are rounded to 1 samples/s, which is about as much as runs of one candidate differ: "
            "print them with more digits"});

  for (auto& point : drifting)
    for (auto& run : point.runs) run.platform = "fat-tree";
  CHECK(condition_facts(drifting).empty()); // simulated: no machine drifts
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

TEST_CASE("candidates that were measured one after the other are undecided, and the verdict says what to do")
{
  auto points = points_with(4, 0.001, [](int) { return 1.0; });
  for (auto& run : points[1].runs) {
    run.throughput *= 1.1;
    run.begin_unix_s += 1000;
    run.block.clear();
  }
  const Contest contest{"2 ranks", points};
  const auto apart = standings_of({&contest, 1}, std::vector{Metric::throughput}, {});
  CHECK_THAT(sentence_of(apart.front()), StartsWith("Undecided between 2 of 2 by throughput at 2 ranks") &&
                                             Contains("were measured one after the other") && Contains("study.order: random"));
}

TEST_CASE("a margin makes equivalent candidates, by name")
{
  auto points = points_with(4, 0.001, [](int) { return 1.0; });
  const Contest contest{"2 ranks", points};
  const auto standing = standings_of({&contest, 1}, std::vector{Metric::throughput}, {.margin = 0.02}).front();
  CHECK_THAT(sentence_of(standing), Contains(" are equivalent within 2 % by throughput at 2 ranks"));
}
