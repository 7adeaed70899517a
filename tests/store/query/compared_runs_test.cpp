#include "store/query/compared_runs.hpp"
#include "tests/store/fixture.hpp"

#include <cmath>
#include <limits>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;
using Catch::Contains;

namespace {

const double miss_time = std::nan("");

// Runs with a target, repeat 0, 1, …; the accuracy is 0.9 after 10 steps of 64 samples and 0.95 after 20 (step_lines).
struct Runs : Site {
  PlannedRun add(std::int64_t repeat, double target, double time_s, const std::string& scheduler, const std::string& token,
                 const std::string& job_id = "17")
  {
    auto spec = sample_spec(2, repeat);
    spec.train.target_accuracy = target;
    runs.push_back(plan(spec));
    const auto attempt = begin(runs.back(), 1);
    put_file(attempt.submission(), to_json(Submission{1, token, scheduler, "", 1700000000, job_id}));
    auto result = sample_result(spec, 100 + static_cast<double>(repeat));
    result.time_to_accuracy_s = time_s;
    if (!std::isnan(time_s)) result.samples_to_accuracy = (target <= 0.9 ? 10 : 20) * 64;
    put_file(attempt.events(), step_lines(1, 20));
    put_result(attempt, result);
    return runs.back();
  }
  std::vector<RunRow> rows()
  {
    const auto record = take_in(database, runs);
    return runs_of_study(database, record.id);
  }
  std::vector<PlannedRun> runs;
  Database database = open();
};

} // namespace

TEST_CASE("a compared run has the figures of its row, its build, its data and the value of the key")
{
  Runs site;
  const auto planned = site.add(0, 0.9, 2.5, "local", "token");
  const auto rows = site.rows();
  const auto runs = compared_runs(site.database, rows, "sync.strategy");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].key == planned.key);
  CHECK(runs[0].value == "sync-sgd");
  CHECK(runs[0].engine_build == "build-1");
  CHECK(runs[0].data_id == "data-1");
  CHECK(runs[0].model == "lenet");
  CHECK(runs[0].global_batch == 64);
  CHECK(runs[0].succeeded);
  CHECK(runs[0].throughput == Approx(100));
  CHECK(runs[0].step_s == Approx(0.11));
  CHECK(runs[0].accuracy == Approx(0.9));
  CHECK(runs[0].time_to_accuracy_s == Approx(2.5));
  CHECK(runs[0].wall_s == Approx(2));
  CHECK(runs[0].target_accuracy == Approx(0.9));
  CHECK(runs[0].nodes == 1);
  CHECK(runs[0].ranks == 2);
  CHECK(compared_runs(site.database, rows, "").at(0).value.empty());
  CHECK(compared_runs(site.database, rows, "train.global_batch").at(0).value == "64");
}

TEST_CASE("runs of one repeat of a ladder are in one block, with a job id and without, and runs of their own in none")
{
  Runs site;
  site.add(0, 0, miss_time, "slurm", "l0123456789abcdef.0");
  site.add(1, 0, miss_time, "slurm", "l0123456789abcdef.1", "");
  site.add(2, 0, miss_time, "slurm", "lfedcba9876543210.0"); // another ladder
  site.add(3, 0, miss_time, "slurm", "a0123456789abcdef.1");
  site.add(4, 0, miss_time, "local", "l0123456789abcdef");
  std::vector<std::string> blocks;
  for (const auto& run : compared_runs(site.database, site.rows(), "")) blocks.push_back(run.block);
  CHECK(blocks == std::vector<std::string>{"l0123456789abcdef 0", "l0123456789abcdef 1", "lfedcba9876543210 2", "", ""});
}

TEST_CASE("samples to the target are those that the run recorded, and infinite for a run that missed its target")
{
  Runs site;
  site.add(0, 0.9, 2.5, "local", "token");
  site.add(1, 0.95, 3, "local", "token");
  site.add(2, 0.99, miss_time, "local", "token");
  site.add(3, 0, miss_time, "local", "token");
  const auto sample = sample_of("", compared_runs(site.database, site.rows(), ""), Metric::samples);
  CHECK(sample.candidate.values ==
        std::vector<double>{10 * 64, 20 * 64, std::numeric_limits<double>::infinity()}); // the fourth run has no target
  const auto losses = sample_of("", compared_runs(site.database, site.rows(), ""), Metric::loss);
  CHECK(losses.candidate.values == std::vector<double>(4, 0.3)); // sample_result
}

TEST_CASE("a key to compare by is a column, its recipe key or its short name, and an unknown one is refused")
{
  Runs site;
  CHECK(column_of_key(site.database, "sync.strategy") == "sync_strategy");
  CHECK(column_of_key(site.database, "period") == "sync_period");
  CHECK_THAT(error_of([&] { column_of_key(site.database, "sync.stratgy"); }),
             Contains("usage: --by sync.stratgy: there is no column sync.stratgy; did you mean sync_strategy?"));
}
