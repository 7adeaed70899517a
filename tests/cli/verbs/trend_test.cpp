// dtctl trend, on run folders of a year of planted studies.
#include "cli/answers/trend.hpp"
#include "tests/cli/site_home.hpp"

#include <cmath>

using Catch::Contains;
using dt::test::Json;
using dt::test::Words;
using namespace dt;
using namespace dt::store::test;

namespace {

constexpr double week_s = 7 * 86400, first_unix_s = 1767571200; // 2026-01-05, a Monday

// A home in which one recipe was measured every week, three runs a study, by another build and under another kernel from the week
// `changed` on.
class MeasuredWeekly : public test::SiteHome {
 public:
  MeasuredWeekly(int weeks, int changed, double ratio)
  {
    for (int week = 0; week < weeks; ++week) add(week, week < changed, week < changed ? 1 : ratio);
  }
  Json trend(const Words& words) const { return json(test::with({"trend"}, words)); }

 private:
  void add(int week, bool is_early, double level)
  {
    std::vector<PlannedRun> runs;
    for (int i = 0; i < 3; ++i) {
      auto spec = sample_spec(2, 3 * week + i);
      spec.name = "nightly";
      spec.train.seed = week;
      runs.push_back(plan_run(spec, is_early ? "build-1" : "build-2", "data-1"));
      measure(runs.back(), week, i, is_early, 1000 * level * (1 + 0.01 * std::sin(7.0 * week + i)));
    }
    site.study(runs, "sweep", first_unix_s + week * week_s, "nightly");
  }
  void measure(const PlannedRun& run, int week, int i, bool is_early, double throughput) const
  {
    make_folders(site.home.run(run.key));
    put_file(spec_path(site.home.run(run.key)), to_json(run));
    const auto attempt = site.begin(run, 1);
    put_file(attempt.submission(),
             to_json(Submission{1, "token-1", "local", "week-" + std::to_string(week), first_unix_s, "17"}));
    auto begin = read_begin(attempt).value();
    begin.unix_s = first_unix_s + week * week_s + 100 * i;
    begin.environment["kernel"] = is_early ? "6.1.0-1" : "6.1.0-2";
    put_file(attempt.begin(), to_json(begin));
    put_file(attempt.result(), to_json(sample_result(run.spec, throughput)));
    put_file(attempt.end(), "exit 0 1800000000\n");
  }
};

} // namespace

TEST_CASE("periods begin on the first of a month, on Mondays or at midnight, in UTC")
{
  CHECK(cli::begin_of(cli::Period::day, first_unix_s - 1) == "2026-01-04");
  CHECK(cli::begin_of(cli::Period::week, first_unix_s - 1) == "2025-12-29");
  CHECK(cli::begin_of(cli::Period::week, first_unix_s) == "2026-01-05");
  CHECK(cli::begin_of(cli::Period::month, first_unix_s) == "2026-01-01");
}

TEST_CASE("a recipe that lost a fifth of its throughput with a new build has one change, in the week of the build")
{
  const MeasuredWeekly home(24, 14, 0.8);
  const auto found = home.trend({"throughput", "nightly"});
  REQUIRE(found.at("points").size() == 1);
  const auto& point = found.at("points")[0];
  CHECK(point.at("studies") == 24);
  REQUIRE(point.at("changes").size() == 1);
  const auto& change = point.at("changes")[0];
  CHECK(change.at("unix_s").get<double>() == first_unix_s + 14 * week_s);
  CHECK(change.at("after").get<double>() / change.at("before").get<double>() == Approx(0.8).epsilon(0.01));
  CHECK(change.at("p").get<double>() <= 0.01);
  const auto& periods = point.at("periods");
  REQUIRE(periods.size() == 24);
  CHECK(periods[14].at("begin") == "2026-04-13");
  CHECK(periods[14].at("runs") == 3);
  CHECK(periods[14].at("news") == Json{"builds: build-2", "kernels: 6.1.0-2"});
  CHECK(periods[13].at("news").empty());
  CHECK(periods[0].at("news").empty());
  CHECK(periods[0].at("interval").is_null()); // of three runs
  const auto months = home.trend({"throughput", "nightly", "--by", "month"}).at("points")[0].at("periods");
  CHECK(months.size() == 6);
  CHECK(months[0].at("interval").size() == 2);
  CHECK_THAT(home.run({"trend", "throughput", "nightly"}).out, Contains("24 studies: 1 change"));
}

TEST_CASE("a recipe that did not change has no change, and few studies are not searched")
{
  const auto point = MeasuredWeekly(20, 99, 1).trend({"throughput"}).at("points")[0];
  CHECK(point.at("changes").empty());
  CHECK(point.at("is_searched") == true);
  const MeasuredWeekly few(6, 3, 0.5);
  CHECK(few.trend({"throughput"}).at("points")[0].at("is_searched") == false);
  CHECK(few.run({"trend", "speed"}).exit_code == 2);
  CHECK(few.run({"trend", "throughput", "--by", "year"}).exit_code == 2);
}

TEST_CASE("points that differ in their seeds alone are one series, which is followed once")
{
  const test::SiteHome home;
  std::vector<PlannedRun> runs;
  for (const int seed : {1, 2, 3, 4}) {
    auto spec = sample_spec(seed < 4 ? 2 : 4);
    spec.label = "seed=" + std::to_string(seed);
    spec.train.seed = seed;
    runs.push_back(home.site.run_well(spec, 1000 + seed));
  }
  home.site.study(runs, "sweep", first_unix_s, "seeds");
  const auto points = home.json({"trend", "throughput"}).at("points");
  INFO(points.dump());
  REQUIRE(points.size() == 2); // of two sizes
  CHECK(points[0].at("point") == "seed 1, 2 ranks, and 2 points with other seeds");
  CHECK(points[0].at("periods")[0].at("runs") == 3);
  CHECK(points[1].at("point") == "seed 4, 4 ranks");
}
