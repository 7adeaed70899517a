// Which strategy on how many nodes is the soonest: from runs whose answer is known.
#include "judged_runs.hpp"
#include "store/analysis/verdict/study_answer.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

constexpr Rule rule{.margin = 0.02};

// Three runs that take about so long, with so many samples a second and in all.
ComparedPoint point_of(const std::string& label, std::int64_t nodes, double time_s, double throughput, double samples)
{
  ComparedPoint point{.candidate = label, .rest = {}, .nodes = nodes, .ranks = nodes, .runs = {}, .title = label};
  for (const double factor : {0.99, 1.0, 1.01}) {
    auto run = timed_runs({time_s * factor}, label).front();
    run.key = label + std::to_string(nodes) + std::to_string(factor);
    run.nodes = run.ranks = nodes;
    run.seed = static_cast<std::int64_t>(point.runs.size());
    run.throughput = throughput;
    run.samples_to_accuracy = samples;
    point.runs.push_back(run);
  }
  return point;
}

} // namespace

TEST_CASE("the soonest of all labels and sizes, the cheapest, and from where more nodes are not worth it")
{
  const std::vector<ComparedPoint> points{point_of("a", 1, 100, 10, 1000), point_of("a", 2, 60, 18, 1080),
                                          point_of("a", 4, 57, 34, 1700), point_of("b", 1, 130, 10, 1300),
                                          point_of("b", 2, 90, 18, 1600)};
  const auto answer = study_answer(points, rule);
  REQUIRE(answer);
  CHECK(answer->by_nodes);
  CHECK(outcome_of(answer->soonest) == Outcome::one);
  CHECK(points[answer->soonest.ranked[0].candidate].nodes == 4);
  REQUIRE(answer->cheapest);
  CHECK(points[answer->cheapest->ranked[0].candidate].nodes == 1);
  CHECK(answer->cheapest->ranked[0].name == "a, 1 rank");
  CHECK(answer->worth_until == 2); // 60 s to 57 s
  REQUIRE(answer->gain);
  CHECK(answer->gain->from == 1);
  CHECK(answer->gain->to == 4);
  CHECK(answer->gain->sooner == Approx(100.0 / 57));
  CHECK(answer->gain->speed == Approx(3.4));
  CHECK(answer->gain->samples == Approx(1.7));
  CHECK(answer->gain->sooner == Approx(answer->gain->speed / (answer->gain->samples * answer->gain->rest)));
  CHECK(answer->runs == 15);
  CHECK(answer->seeds == 3);
}

TEST_CASE("sizes that are no powers of two are judged by what a doubling would save")
{
  const std::vector<ComparedPoint> points{point_of("a", 2, 100, 10, 1000), point_of("a", 3, 94.5, 11, 1000)};
  CHECK(study_answer(points, rule)->worth_until == 2); // -5.5 % for 1.5 times as many is -9.2 % for twice
  const std::vector<ComparedPoint> better{point_of("a", 2, 100, 10, 1000), point_of("a", 3, 93, 11, 1000)};
  CHECK(study_answer(better, rule)->worth_until == 0);
}

TEST_CASE("ranks of one node have no cheapest point, and a size that misses its target is no step")
{
  auto one = point_of("a", 1, 100, 10, 1000), two = point_of("a", 2, 60, 18, 1080), four = point_of("a", 4, 50, 30, 1100);
  for (auto* point : {&one, &two, &four}) {
    point->nodes = 1;
    for (auto& run : point->runs) run.nodes = 1;
  }
  two.runs[0].time_to_accuracy_s = two.runs[0].samples_to_accuracy = not_measured;
  const auto answer = study_answer({one, two, four}, rule);
  REQUIRE(answer);
  CHECK_FALSE(answer->by_nodes);
  CHECK_FALSE(answer->cheapest);
  REQUIRE(answer->steps.size() == 1);
  CHECK(answer->steps[0].from == 1);
  CHECK(answer->steps[0].to == 4);
}

TEST_CASE("no answer from one size, from several targets, or from too few runs")
{
  CHECK_FALSE(study_answer({point_of("a", 1, 100, 10, 1000), point_of("b", 1, 90, 10, 900)}, rule));
  auto other = point_of("a", 2, 60, 18, 1080);
  for (auto& run : other.runs) run.target_accuracy = 0.5;
  CHECK_FALSE(study_answer({point_of("a", 1, 100, 10, 1000), other}, rule));
  auto few = point_of("a", 1, 100, 10, 1000), as_few = point_of("a", 2, 60, 18, 1080);
  few.runs.resize(1);
  as_few.runs.resize(1);
  CHECK_FALSE(study_answer({few, as_few}, rule));
}
