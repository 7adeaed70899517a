// From run folders to the measurements of a series, and from stored predictions to their scores.
#include "core/record/prediction_record.hpp"
#include "store/query/prediction_query.hpp"
#include "tests/store/fixture.hpp"

#include "store/analysis/prediction/forecast.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

// A strong study over ranks of one node, two repeats a size, whose first runs recorded two buckets.
struct RankStudy : Site {
  RankStudy()
  {
    for (const std::int64_t ranks : {1, 2, 4})
      for (std::int64_t repeat = 0; repeat < 2; ++repeat) runs.push_back(run(ranks, repeat));
    record = take_in(database, runs);
  }

  PlannedRun run(std::int64_t ranks, std::int64_t repeat)
  {
    const auto spec = sample_spec(ranks, repeat);
    const auto planned = plan(spec);
    const auto attempt = begin(planned, 1);
    auto result = sample_result(spec, 100 * static_cast<double>(ranks));
    result.isolated_communication_s = ranks > 1 ? 1e-3 : 0;
    if (repeat == 0) result.buckets = {{4096, 0.03, 0.01}, {1024, 0.04, 0}};
    put_result(attempt, result);
    return planned;
  }

  Database database = open();
  std::vector<PlannedRun> runs;
  StudyRecord record;
};

PredictionRecord prediction_of(const StudyRecord& study, std::int64_t ranks)
{
  PredictionRecord prediction{.study = study.id, .recipe = study.name, .strategy = "sync-sgd", .model = "lenet", .nodes = 1};
  prediction.ranks = ranks;
  prediction.global_batch = 64;
  prediction.predicted_unix_s = 1700000200;
  prediction.throughput = 440;
  prediction.throughput_low = 380;
  prediction.throughput_high = 500;
  prediction.id = prediction_id(prediction);
  return prediction;
}

} // namespace

TEST_CASE("a study over ranks of one node is one series with its sizes, batches, phases and buckets")
{
  RankStudy study;
  const auto all = measurements_of_study(study.database, study.record.id, {});
  REQUIRE(all.size() == 1);
  REQUIRE(all[0].sizes.size() == 3);
  const auto& largest = all[0].sizes[2];
  CHECK(largest.at.size == 4);
  CHECK(largest.at.nodes == 1);
  CHECK(largest.at.batch == 16);
  REQUIRE(largest.runs.size() == 2);
  CHECK(largest.runs[0].workers.size() == 4);
  CHECK(largest.runs[0].workers[0].compute_s == Approx(0.04)); // forward and backward, 0.02 each
  CHECK(largest.runs[0].workers[0].p95_s == Approx(0.06));
  CHECK(largest.runs[0].isolated_s == Approx(1e-3));
  CHECK(all[0].traits.exchange_bytes == 4.0 * 431080);
  const auto has_buckets = [](const MeasuredTimes& run) { return !run.buckets.empty(); };
  const auto recorded = std::find_if(largest.runs.begin(), largest.runs.end(), has_buckets);
  REQUIRE(recorded != largest.runs.end());
  CHECK(recorded->buckets[0].bytes == 4096);
  CHECK(recorded->buckets[0].ready == Approx(0.75)); // 10 ms before the end of 40 ms
  CHECK(recorded->buckets[1].ready == 1);
  CHECK(size_of(all[0].traits, 16).nodes == 1);
  CHECK(size_of(all[0].traits, 16).batch == 4);
}

TEST_CASE("the batch of a program that does not tell it is what its ranks have reported")
{
  auto [site, database] = Opened{};
  auto spec = sample_spec(2, 0);
  spec.program.command = {"train"};
  spec.program.sync = true;
  spec.train.global_batch = spec.train.batch_per_rank = 0;
  auto result = sample_result(spec, 100);
  result.step_samples = 48;
  const auto planned = site.plan(spec);
  put_file(site.begin(planned, 1).result(), to_json(result));
  const auto record = site.take_in(database, {planned});
  const auto all = measurements_of_study(database, record.id, {});
  REQUIRE(all.size() == 1);
  CHECK(all[0].sizes[0].at.batch == 24);
  CHECK(all[0].traits.batches.samples_at(2) == 48);
}

TEST_CASE("of servers the update of one exchange is read, and a simulated machine's trunks are known")
{
  auto [site, database] = Opened{};
  auto spec = sample_spec(3, 0);
  spec.sync.strategy = "easgd";
  spec.sync.period = 4;
  spec.sync.servers = 1;
  spec.resources.platform = "fat-tree";
  spec.platform.trunk_share = 0.5;
  auto result = sample_result(spec, 100);
  result.ranks.back().role = "server";
  result.ranks.back().phases[static_cast<std::size_t>(Phase::optimizer)].mean_s = 0.01; // of a step with 2 / 4 exchanges
  const auto planned = site.plan(spec);
  put_file(site.begin(planned, 1).result(), to_json(result));
  const auto record = site.take_in(database, {planned});
  const auto all = measurements_of_study(database, record.id, {});
  REQUIRE(all.size() == 1);
  CHECK(all[0].traits.answers_first);
  CHECK(all[0].traits.trunk_share == 0.5);
  CHECK(all[0].sizes[0].runs[0].workers.size() == 2);
  CHECK(all[0].sizes[0].runs[0].server_update_s == Approx(0.02));
}

TEST_CASE("sums on devices cost what a ring costs, whatever the recipe's allreduce is")
{
  const auto traits_of = [](const TextMap& facts) {
    const Site site;
    auto database = site.open();
    const auto spec = sample_spec(2, 0);
    const auto planned = site.plan(spec);
    auto result = sample_result(spec, 100);
    result.facts = facts;
    put_file(site.begin(planned, 1).result(), to_json(result));
    return measurements_of_study(database, site.take_in(database, {planned}).id, {}).at(0).traits;
  };
  CHECK(traits_of({{"allreduce", "mpi"}}).allreduce == "mpi");
  CHECK(traits_of({{std::string(device_sums_fact), "on the devices"}}).allreduce == "ring");
}

TEST_CASE("the exchanges of diloco are read as equal ones at equal distances, with their bytes as they are sent")
{
  const auto traits_of = [](std::int64_t fragments, std::int64_t delay, Wire wire) {
    const Site site;
    auto database = site.open();
    auto spec = sample_spec(2, 0);
    spec.sync.strategy = "diloco";
    spec.sync.period = 12;
    spec.sync.outer.fragments = fragments;
    spec.sync.outer.delay = delay;
    spec.sync.wire = wire;
    const auto planned = site.plan(spec);
    put_file(site.begin(planned, 1).result(), to_json(sample_result(spec, 100)));
    const auto record = site.take_in(database, {planned});
    return measurements_of_study(database, record.id, {}).at(0).traits;
  };
  constexpr double parameters = 431080;
  const auto plain = traits_of(1, 0, Wire::float32);
  CHECK(plain.period == 12);
  CHECK(plain.exchange_bytes == 4 * parameters);
  CHECK(plain.allreduce == "mpi");
  CHECK_FALSE(plain.is_beside);
  const auto streaming = traits_of(3, 2, Wire::int8); // six pieces in a period
  CHECK(streaming.period == 2);
  CHECK(streaming.exchange_bytes == Approx(parameters * 260 / 256 / 6));
  CHECK(streaming.allreduce == "ring");
  CHECK(streaming.is_beside);
  const auto often = traits_of(4, 5, Wire::float32); // more pieces than steps
  CHECK(often.period == 1);
  CHECK(often.exchange_bytes == Approx(4 * parameters / 12));
}

TEST_CASE("what a machine that is not simulated has as trunks is not known, and nodes are refused as sizes of a study that "
          "varies ranks")
{
  RankStudy study;
  const auto all = measurements_of_study(study.database, study.record.id, {});
  CHECK(std::isnan(all[0].traits.trunk_share));
  CHECK(std::isnan(all[0].sizes[0].runs[0].server_update_s));
  CHECK_FALSE(all[0].traits.answers_first);
  CHECK_THROWS_WITH(measurements_of_study(study.database, study.record.id, SizeUnit::nodes), Catch::Contains("--ranks"));
}

TEST_CASE("runs that failed or recorded no times of their ranks are not measurements")
{
  auto [site, database] = Opened{};
  const auto spec = sample_spec(2, 0);
  auto without = sample_result(spec, 100);
  without.ranks.clear();
  const auto bare = site.plan(spec);
  put_file(site.begin(bare, 1).result(), to_json(without));
  const auto failed = site.plan(sample_spec(4, 0));
  site.fail(site.begin(failed, 1));
  const auto record = site.take_in(database, {bare, failed});
  CHECK(measurements_of_study(database, record.id, {}).empty());
}

TEST_CASE("a stored prediction is scored when its size has run, and not before")
{
  RankStudy study;
  write_prediction(study.home, prediction_of(study.record, 4));
  write_prediction(study.home, prediction_of(study.record, 8));
  CHECK(ingest_predictions(study.database, study.home).empty());
  auto other_batch = prediction_of(study.record, 2);
  other_batch.global_batch = 128;
  write_prediction(study.home, other_batch);
  CHECK(ingest_predictions(study.database, study.home).empty());
  const auto scored = scored_predictions(study.database, study.record.name);
  REQUIRE(scored.size() == 3);
  CHECK(scored[0].runs == 0); // of another global batch
  CHECK(scored[1].runs == 2);
  CHECK(scored[1].measured == Approx(400));
  CHECK(scored[1].error == Approx(0.1));
  CHECK(scored[1].is_inside());
  CHECK(scored[2].runs == 0);
  CHECK(std::isnan(scored[2].error));
  CHECK_FALSE(scored[2].is_inside());
  CHECK(scored_predictions(study.database, "another").empty());
  CHECK(scored_predictions(study.database, "").size() == 3);
}

TEST_CASE("predictions survive a rebuild of the database, and a damaged file is reported and left out")
{
  RankStudy study;
  const auto prediction = prediction_of(study.record, 8);
  write_prediction(study.home, prediction);
  put_file(study.home.predictions() / "damaged.json", "{");
  const auto report = study.rebuild();
  REQUIRE(report.problems.size() == 1);
  CHECK_THAT(report.problems[0], Catch::Contains("damaged.json is damaged or of another format"));
  const auto scored = scored_predictions(study.database, "");
  REQUIRE(scored.size() == 1);
  CHECK(to_json(scored[0].prediction) == to_json(prediction));
}

TEST_CASE("a stored prediction keeps what changes and whether it is identified, and a later one of the same size replaces it")
{
  RankStudy study;
  auto prediction = prediction_of(study.record, 8);
  write_prediction(study.home, prediction);
  ingest_predictions(study.database, study.home);
  prediction.predicted_unix_s += 1;
  prediction.changes = "server_saturates,distance";
  prediction.unidentified = true;
  prediction.measure = 6;
  prediction.throughput = not_measured;
  write_prediction(study.home, prediction);
  write_prediction(study.home, prediction_of(study.record, 4));
  ingest_predictions(study.database, study.home);
  const auto scored = scored_predictions(study.database, "");
  REQUIRE(scored.size() == 2);
  CHECK_FALSE(scored[0].prediction.unidentified);
  CHECK(scored[0].prediction.measure == 0);
  CHECK(scored[0].is_inside());
  CHECK(to_json(scored[1].prediction) == to_json(prediction));
  CHECK(std::isnan(scored[1].prediction.throughput));
}
