// What results say of a program's runs that were short, or whose recorded samples contradict the recipe.
#include "store/query/doubts.hpp"
#include "store/query/prediction_query.hpp"
#include "store/query/queries.hpp"
#include "tests/store/fixture.hpp"

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

// Runs of a program on 1 and 2 ranks that reports these samples a step.
struct ProgramStudy : Site {
  ProgramStudy(const std::string& kind, double on_one, double on_two, std::int64_t global_batch = 0)
  {
    add(1, on_one, global_batch);
    add(2, on_two, global_batch);
    record = study(runs);
    record.kind = kind;
    put_file(home.study(record.id) / "study.json", to_json(record));
    ingest_study(database, record);
    ingest(database, runs);
  }

  void add(std::int64_t ranks, double samples, std::int64_t global_batch)
  {
    auto spec = sample_spec(ranks, 0);
    spec.program.command = {"python3", "train.py"};
    spec.train.global_batch = global_batch;
    runs.push_back(plan(spec));
    auto result = sample_result(spec, 1000);
    result.step_samples = samples;
    result.measured_s = 0.1;
    const auto attempt = begin(runs.back(), 1);
    put_result(attempt, result);
  }

  Doubts doubts() { return doubts_of(database, record.id, {runs[0].key, runs[1].key}); }

  std::vector<PlannedRun> runs;
  StudyRecord record;
  Database database = open();
};

} // namespace

TEST_CASE("short runs of a program are told, as those of dtengine are, and samples that agree with the recipe are no doubt")
{
  ProgramStudy study("strong", 64, 64);
  const auto doubts = study.doubts();
  CHECK(doubts.measured_runs == 2);
  CHECK(doubts.too_short.runs == 2);
  CHECK(doubts.too_short.shortest_s == Approx(0.1));
  CHECK(ProgramStudy("strong", 62.5, 63, 64).doubts().batches.empty());
  CHECK(ProgramStudy("weak", 32, 63).doubts().batches.empty());
}

TEST_CASE("a strong study of a batch that grows is a doubt and predicted as weak scaling, and a weak one of samples that shrink "
          "as strong")
{
  ProgramStudy study("strong", 40, 80);
  const auto doubts = study.doubts().batches;
  REQUIRE(doubts.size() == 1);
  CHECK(doubts[0].kind == BatchDoubt::Kind::mode);
  CHECK(doubts[0].told == "strong");
  CHECK(doubts[0].recorded.is_weak());
  const auto all = measurements_of_study(study.database, study.record.id, {});
  REQUIRE(all.size() == 1);
  CHECK(all[0].traits.batches.is_weak());
  CHECK(size_of(all[0].traits, 4).batch == 40);
  ProgramStudy shrinking("weak", 64, 64);
  REQUIRE(shrinking.doubts().batches.size() == 1);
  CHECK(size_of(measurements_of_study(shrinking.database, shrinking.record.id, {})[0].traits, 4).batch == 16);
}

TEST_CASE("a recipe's batch that the program does not train with is a doubt, and figures are made of what it reports")
{
  ProgramStudy study("strong", 64, 64, 6400);
  const auto doubts = study.doubts().batches;
  REQUIRE(doubts.size() == 1);
  CHECK(doubts[0].kind == BatchDoubt::Kind::batch);
  CHECK(doubts[0].told == "train.global_batch");
  CHECK(doubts[0].of_recipe == 6400);
  CHECK(doubts[0].recorded.sizes.front().samples == 64);
  CHECK(runs_of_study(study.database, study.record.id)[0].samples_of_step() == 64);
  CHECK(measurements_of_study(study.database, study.record.id, {})[0].sizes[1].at.batch == 32);
}
