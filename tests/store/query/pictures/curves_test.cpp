// Curves of runs, at a bounded number of points.
#include "store/query/pictures/curves.hpp"
#include "store/query/pictures/phases.hpp"
#include "store/query/pictures/provenance.hpp"
#include "tests/store/fixture.hpp"

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

std::string steps(std::int64_t first, std::int64_t last)
{
  std::string text;
  for (auto step = first; step <= last; ++step)
    append_line(text, StepEvent{step, 0, 0.01 * static_cast<double>(step), static_cast<double>(step), 0.1, 0.01, {}});
  return text;
}

// The stored curves of one run whose attempts did these steps.
RunCurves curves_after(const std::vector<std::string>& attempts, std::int64_t most_points)
{
  const Site site;
  const auto planned = site.plan(sample_spec());
  int number = 0;
  for (const auto& events : attempts) {
    const auto attempt = site.begin(planned, ++number);
    put_file(attempt.events(), events);
    if (number < static_cast<int>(attempts.size())) put_file(attempt.end(), "exit 1 1700000050\n");
    auto database = site.open();
    site.ingest(database, {planned});
  }
  auto database = site.open();
  const auto curves = curves_of(database, {planned.key}, most_points);
  REQUIRE(curves.size() == 1);
  return curves.front();
}

} // namespace

TEST_CASE("a short run's curve has each of its steps, a long one's at most the asked points, means of ranges or of the first "
          "hundred in them")
{
  const auto curves = curves_after({steps(1, 30)}, 100);
  REQUIRE(curves.loss.size() == 30);
  CHECK(curves.loss[4].value == 5);
  CHECK(curves.loss[4].samples == 5 * 64);
  CHECK(curves.loss[4].elapsed_s == Approx(0.05));
  const auto long_run = curves_after({steps(1, 1000)}, 100);
  REQUIRE(long_run.loss.size() == 100);
  CHECK(long_run.loss[0].value == Approx(5.5)); // of the steps 1 to 10
  CHECK(long_run.loss[99].value == Approx(995.5));
  const auto very_long = curves_after({steps(1, 4000)}, 2);
  REQUIRE(very_long.loss.size() == 2);
  CHECK(very_long.loss[1].value == Approx(2050.5)); // of the steps 2001 to 2100
}

TEST_CASE("steps that a later attempt did again are in the curve once, as the later attempt did them")
{
  const auto curves = curves_after({steps(1, 20), steps(11, 30)}, 100);
  REQUIRE(curves.loss.size() == 30);
  for (std::size_t i = 0; i < 30; ++i) CHECK(curves.loss[i].samples == 64.0 * static_cast<double>(i + 1));
}

TEST_CASE("phases of a point are means over the workers of its succeeded runs, without servers and controls")
{
  const Site site;
  auto spec = sample_spec(2);
  const auto planned = site.plan(spec);
  const auto attempt = site.begin(planned, 1);
  auto result = sample_result(planned.spec, 1000);
  result.ranks[0].phases[1].mean_s = 0.010;
  result.ranks[1].phases[1].mean_s = 0.030;
  result.ranks[1].role = "server";
  put_result(attempt, result);
  const auto record = site.study({planned});
  auto database = site.open();
  ingest_study(database, record);
  site.ingest(database, {planned});
  const auto points = phases_of_points(database, record.id);
  REQUIRE(points.size() == 1);
  CHECK(points[0].phases.at("forward") == Approx(0.010));
  const auto ranks = phases_of_ranks(database, planned.key);
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[1].role == "server");
  CHECK(ranks[1].phases.at("forward") == Approx(0.030));
}

TEST_CASE("a fact that all runs share is one row of the provenance, with the number of runs")
{
  const Site site;
  std::vector<PlannedRun> runs{site.run_well(sample_spec(1), 100), site.run_well(sample_spec(2), 200)};
  const auto record = site.study(runs);
  auto database = site.open();
  ingest_study(database, record);
  site.ingest(database, runs);
  std::map<std::string, std::int64_t> counts;
  for (const auto& fact : provenance_of(database, record.id)) counts[fact.name + "=" + fact.value] += fact.runs;
  CHECK(counts["cpu_model=EPYC"] == 2);
  CHECK(counts["engine_build=build-1"] == 2);
  CHECK(counts["host of rank 0=node0"] == 2);
}
