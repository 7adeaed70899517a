// From run folders to the attribution of a study.
#include "store/query/attribution_query.hpp"
#include "tests/store/fixture.hpp"

#include <cmath>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

// A study over 1, 2 and 4 ranks, one repeat each, whose runs may have sums of useful time. Their allreduces take the time of a
// link of 1 GB/s without latency.
struct WhyStudy : Site {
  explicit WhyStudy(bool has_sums)
  {
    std::vector<PlannedRun> runs;
    for (const std::int64_t ranks : {1, 2, 4}) runs.push_back(run(ranks, has_sums));
    record = take_in(database, runs);
  }

  PlannedRun run(std::int64_t ranks, bool has_sums)
  {
    const auto spec = sample_spec(ranks);
    const auto planned = plan(spec);
    const auto attempt = begin(planned, 1);
    const double throughput = ranks == 4 ? 320 : 100 * static_cast<double>(ranks); // 4 ranks: an efficiency of 80 %
    auto result = sample_result(spec, throughput);
    const auto count = static_cast<double>(ranks);
    result.isolated_communication_s = 2 * (count - 1) / count * 4 * static_cast<double>(result.parameters) / 1e9;
    if (has_sums)
      result.work = {.useful_s = 9.6,
                     .useful_max_s = 9.6 / count,
                     .useful_step_max_s = 9.6 / count,
                     .busy_step_max_s = 9.6 / count,
                     .useful_fast_s = 9 / count,
                     .useful_step_fast_s = 9.3 / count};
    for (auto& rank : result.ranks) {
      rank.host = "node" + std::to_string(rank.rank);
      rank.late_s = rank.rank == 2 ? 0.5 : 0.1;
    }
    put_result(attempt, result);
    return planned;
  }

  Database database = open();
  StudyRecord record;
};

} // namespace

TEST_CASE("a stored study's efficiency is attributed, with the traffic of a step, the late host and the link")
{
  WhyStudy study(true);
  const auto points = attributions_of_study(study.database, study.record.id);
  REQUIRE(points.size() == 3);
  const auto& point = points[2];
  CHECK(point.workers == 4);
  CHECK(point.efficiency == Approx(0.8));
  // The same useful time in all: what is lost is time without work.
  CHECK(point.lost[static_cast<std::size_t>(Factor::communication)] == Approx(0.2));
  CHECK(point.reference == Reference::fast_worker);
  CHECK(point.latest_host == "node2");
  CHECK(point.latest_host_runs == 1);
  CHECK(point.communication.exposed_s == Approx(0.02));
  CHECK(point.communication.bytes == Approx(1000.0 / 15)); // 1.5 s of steps that took 0.1 s each
  CHECK(point.communication.messages == Approx(1));
  CHECK(point.communication.link == Approx(1e9).epsilon(0.05));
  CHECK(std::isnan(points[0].communication.link));
}

TEST_CASE("a study whose runs have no sums has no attribution")
{
  WhyStudy study(false);
  CHECK(attributions_of_study(study.database, study.record.id).empty());
}
