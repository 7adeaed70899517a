#include "store/query/separation_query.hpp"
#include "tests/store/fixture.hpp"

#include <cmath>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

// Runs that studies asked for at certain hours.
struct Hours : Site {
  PlannedRun add(const std::string& study, double hour, double throughput, const std::function<void(RunSpec&)>& change = {},
                 const std::map<std::string, std::string>& environment = {{"cpu_model", "EPYC"}})
  {
    auto spec = sample_spec(2, static_cast<std::int64_t>(runs.size()));
    if (change) change(spec);
    runs.push_back(plan(spec));
    const auto attempt = begin(runs.back(), 1);
    put_file(attempt.submission(), to_json(Submission{1, "token", "local", study, 1700000000, "17"}));
    auto record = read_begin(attempt).value();
    record.unix_s = 1700000000 + 3600 * hour;
    record.environment = environment;
    put_file(attempt.begin(), to_json(record));
    succeed(runs.back(), attempt, throughput);
    put_file(attempt.end(), "exit 0 " + std::to_string(static_cast<std::int64_t>(record.unix_s) + 60) + "\n");
    return runs.back();
  }
  Repetitions repetitions(const PlannedRun& a, const PlannedRun& b, Metric metric = Metric::throughput)
  {
    ingest(database, runs);
    return repetitions_of(database, a.key, b.key, metric, left_out);
  }
  std::vector<PlannedRun> runs;
  std::set<std::string> left_out{};
  Database database = open();
};

} // namespace

TEST_CASE(
    "a measured run has its study, its times, its hosts and what it depended on, and one that has not succeeded was not measured")
{
  Hours site;
  const auto run =
                 site.add("one", 2, 100, {}, {{"cpu_model", "EPYC"}, {"kernel", "Linux 6.1"}, {"mpi_version", "Open MPI 4.1.4"}}),
             failed = site.add("one", 3, 100);
  std::filesystem::remove(AttemptFolder(site.home.run(failed.key), 1).result());
  site.ingest(site.database, site.runs);
  CHECK(measured_of(site.database, {failed.key}).empty());
  const auto measured = measured_of(site.database, {run.key});
  REQUIRE(measured.size() == 1);
  CHECK(measured[0].study == "one");
  CHECK(measured[0].begin_unix_s == 1700007200);
  CHECK(measured[0].end_unix_s == 1700007260);
  CHECK(measured[0].hosts == std::set<std::string>{"node0"});
  CHECK(measured[0].facts.at("processors") == "EPYC");
  CHECK(measured[0].facts.at("kernels") == "Linux 6.1");
  CHECK(measured[0].facts.at("MPI libraries") == "Open MPI 4.1.4");
  CHECK(measured[0].facts.at("builds") == "build-1");
}

TEST_CASE("every metric is found in the studies of the same work")
{
  Hours site;
  const auto first = site.add("one", 0, 100);
  site.add("two", 5, 104);
  for (const auto& row : metric_rows()) {
    INFO(row.name);
    CHECK_NOTHROW(site.repetitions(first, first, row.metric));
  }
  CHECK(site.repetitions(first, first, Metric::node_hours).works.size() == 1);
}

TEST_CASE("studies of the same work differ in the seed and the repeat only, and ran on the same kind of processor")
{
  Hours site;
  const auto first = site.add("one", 0, 100);
  site.add("one", 1, 102);
  site.add("two", 5, 104, [](RunSpec& spec) { spec.train.seed = 7; });
  site.add("three", 30, 108);
  site.add("", 31, 200);
  site.add("other", 40, 1, [](RunSpec& spec) { spec.optimizer.learning_rate = 0.5; });
  site.add("other", 41, 1, [](RunSpec& spec) { spec.resources.ranks_per_node = 4; });
  site.add("other", 42, 1, {}, {{"cpu_model", "Xeon"}});
  const auto found = site.repetitions(first, site.runs.at(5));
  REQUIRE(found.works.size() == 2);
  REQUIRE(found.works[0].size() == 3);
  CHECK(found.works[0][0].study == "one");
  CHECK(found.works[0][0].moments.count == 2);
  CHECK(found.works[0][0].moments.mean == Approx((std::log(100) + std::log(102)) / 2));
  CHECK(found.works[1].size() == 1);
  CHECK(found.longest_s == 30 * 3600);
  CHECK(found.host_sets == 1);
  CHECK(site.repetitions(first, site.runs.at(3)).works.size() == 1); // the same work
  CHECK(site.repetitions(first, first, Metric::time_to_target).works.at(0).empty());
  site.left_out = {"one"};
  const auto others = site.repetitions(first, site.runs.at(3));
  REQUIRE(others.works.size() == 1);
  REQUIRE(others.works[0].size() == 2);
  CHECK(others.works[0][0].study == "three");
  CHECK(others.longest_s == 25 * 3600);
}
