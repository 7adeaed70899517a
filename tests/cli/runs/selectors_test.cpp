// Names that several studies or runs have: the newest is taken, and dtctl says so.
#include "tests/cli/site_home.hpp"

using Catch::Contains;
using namespace dt;
using namespace dt::store::test;

namespace {

// Two studies named `quick`: the older one has points a and b, and its run of a failed; the newer one has a and c.
struct TwoOfAName : dt::test::SiteHome {
  TwoOfAName()
  {
    const auto failed = plan("a", 1), b = plan("b", 1), succeeded = plan("a", 2), c = plan("c", 2);
    site.fail(site.begin(failed, 1));
    for (const auto& run : {b, succeeded, c}) site.succeed(run, site.begin(run, 1), 100);
    older = site.study({failed, b}, "sweep", 1700000000, "quick").id;
    newer = site.study({succeeded, c}, "sweep", 1700009000, "quick").id;
    failed_key = failed.key;
    succeeded_key = succeeded.key;
    b_key = b.key;
  }
  PlannedRun plan(const std::string& label, std::int64_t seed) const
  {
    auto spec = sample_spec(2);
    spec.name = "quick";
    spec.label = "point=" + label;
    spec.train.seed = seed;
    spec.optimizer.learning_rate = 0.001 * label[0];
    return site.plan(spec);
  }
  std::string older, newer, failed_key, succeeded_key, b_key;
};

} // namespace

TEST_CASE("a name that two studies have means the newest, and a message names it and the other")
{
  const TwoOfAName home;
  for (const auto* selector : {"quick", "last"}) {
    CHECK(home.json({"results", selector}).at("study") == home.newer);
    const auto err = home.run({"results", selector}).err;
    CHECK_THAT(err, Contains("this is " + home.newer.substr(0, 10)) && Contains("its id: " + home.older.substr(0, 10)));
  }
  CHECK_THAT(home.run({"results", home.older}).err, !Contains("2 studies"));
}

TEST_CASE("a run's name means the run of the newest study, although an older study has a run of that name that failed")
{
  const TwoOfAName home;
  CHECK_THAT(home.run({"show", "quick/point=a/#0"}).err, Contains(home.failed_key.substr(0, 10) + " (failed)"));
  CHECK(home.json({"show", "quick/point=a/#0"}).at("key") == home.succeeded_key);
}

TEST_CASE("show counts repeats from 1, as names do, and has a row for each fact, and programs get what is stored")
{
  const dt::test::SiteHome home;
  const auto run = home.site.plan(sample_spec());
  const auto attempt = home.site.begin(run, 1);
  auto result = sample_result(run.spec, 100);
  result.facts = {{"allreduce", "ring"}, {"progress", "poll, a core is free"}};
  put_file(attempt.result(), to_json(result));
  put_file(attempt.end(), "exit 0 1700000101\n");
  home.site.study({run});
  const auto shown = home.run({"show", run.key}).out;
  CHECK_THAT(shown, Catch::Matches("(.|\n)*\nrepeat +1\n(.|\n)*"));
  CHECK_THAT(shown, Contains("facts.allreduce ") && Contains(" poll, a core is free\n") && !Contains("{\"allreduce\""));
  for (const auto& row : home.json({"show", run.key}).at("run"))
    if (row.at("name") == "repeat") CHECK(row.at("value") == 0);
}

TEST_CASE("a point means that of the newest study, and a point that only an older study of the name has is found there")
{
  const TwoOfAName home;
  CHECK(home.json({"show", "quick/point=a"}).at("key") == home.succeeded_key);
  CHECK(home.json({"show", "quick/point=b"}).at("key") == home.b_key);
  CHECK_THAT(home.run({"show", "quick/point=b"}).err, Contains("the newest that has this point"));
  CHECK(home.run({"show", "quick/point=d"}).exit_code == 2);
}

TEST_CASE("every view tells studies of one name apart, and the newest of them")
{
  const TwoOfAName home;
  for (const auto* view : {"runs_flat", "scaling"}) {
    const auto rows = home.json({"query", std::string("select distinct study_key, study_newest from ") + view +
                                              " where study = 'quick' order by study_newest"})
                          .at("rows");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].at("study_key") == home.older);
    CHECK(rows[1].at("study_key") == home.newer);
    CHECK(rows[1].at("study_newest") == 1);
  }
  const auto phases = home.json({"query", "select distinct study, study_key from phases_flat order by 2"}).at("rows");
  REQUIRE(phases.size() == 2);
  CHECK(phases[0].at("study") == "quick");
  CHECK(home.json({"results", "all", "--where", "study_newest=1"}).at("runs").size() == 2);
}
