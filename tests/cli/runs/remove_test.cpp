// dtctl remove: what was asked for goes, and nothing else, whatever comes in between.
#include "cli/runs/removal.hpp"
#include "core/files/file.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/other_file_system.hpp"

#include <map>

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::test::Dtctl;
using dt::test::Json;
using dt::test::tiny_recipe;
using dt::test::Words;

namespace {

// A recipe of runs that end at once with exit code 3, one a seed.
std::string failing(const std::string& name, const std::string& seeds)
{
  auto recipe = tiny_recipe("resources: {setup: [exit 3]}\nsweep: {matrix: {train.seed: [" + seeds + "]}}\n");
  return recipe.replace(recipe.find("name: tiny"), 10, "name: " + name);
}

// Two studies that have ended: `first` with seeds 1 and 2, and `second`, later, with 2 and 3.
struct TwoStudies {
  TwoStudies()
  {
    for (const auto& [name, seeds] : {std::pair{"first", "1, 2"}, {"second", "2, 3"}}) {
      const auto file = std::string(name) + ".yaml";
      dtctl.write(file, failing(name, seeds));
      const auto report = dtctl.json({"sweep", file, "--wait"});
      for (const auto& row : report.at("submissions")) keys[name].push_back(row.at("key"));
      ids[name] = report.at("study");
    }
    REQUIRE(keys["first"][1] == keys["second"][0]);
  }
  bool has_run(const std::string& key) const { return fs::exists(dtctl.home() / "runs" / key / "spec.json"); }
  bool has_study(const std::string& name) const { return fs::exists(dtctl.home() / "studies" / ids.at(name) / "study.json"); }
  // What the database says of studies and runs.
  std::string content() const
  {
    auto text = dtctl.json({"status", "--all"}).at("studies").dump();
    for (const auto* table :
         {"select key, state, cause from runs order by key",
          "select s.key, position, r.key, s.name from study_runs join studies s on s.id = study_id join runs r on r.id "
          "= run_id order by 1, 2",
          "select r.key, a.attempt, exit_code from attempts a join runs r on r.id = a.run_id order by 1, 2"})
      text += dtctl.json({"query", table}).at("rows").dump() + "\n";
    return text;
  }
  void check_rebuild_agrees() const
  {
    const auto before = content();
    REQUIRE(dtctl.run({"db", "rebuild"}).ok());
    CHECK(content() == before);
    CHECK(dtctl.run({"db", "check"}).ok());
  }
  Dtctl dtctl;
  std::map<std::string, Words> keys;
  std::map<std::string, std::string> ids;
};

} // namespace

TEST_CASE("without --yes nothing is removed, and --dry-run says what would be")
{
  TwoStudies home;
  const auto before = home.content();
  const auto asked = home.dtctl.run({"remove", "first", "--runs"});
  CHECK(asked.exit_code == 2);
  CHECK_THAT(asked.err, Contains("and 1 run with all results. Add --yes"));
  const auto dry = home.dtctl.json({"remove", "first", "--runs", "--dry-run", "--yes"});
  CHECK(dry.at("dry_run") == true);
  CHECK(dry.at("runs")[0].at("removed") == true);
  CHECK(dry.at("runs")[1].at("removed") == false);
  CHECK(dry.at("runs")[1].at("fate") == "kept: also in the study second");
  CHECK(home.content() == before);
  CHECK(home.has_run(home.keys["first"][0]));
}

TEST_CASE("a study is removed from folders and database in one call, and its runs stay")
{
  TwoStudies home;
  REQUIRE(home.dtctl.run({"remove", "first", "--yes"}).ok());
  CHECK_FALSE(home.has_study("first"));
  CHECK(home.has_study("second"));
  for (const auto& key : home.keys["first"]) CHECK(home.has_run(key));
  CHECK(home.dtctl.json({"status", "--all"}).at("studies").size() == 1);
  CHECK(home.dtctl.run({"show", home.keys["first"][0]}).ok());
  CHECK(home.dtctl.run({"status", "first"}).exit_code == 2);
  home.check_rebuild_agrees();
}

TEST_CASE("with --runs the study's own runs go, and those of another study stay")
{
  TwoStudies home;
  const auto removed = home.dtctl.json({"remove", home.ids["first"].substr(0, 8), "--runs", "--yes"});
  CHECK(removed.at("study") == home.ids["first"]);
  CHECK_FALSE(fs::exists(home.dtctl.home() / "runs" / home.keys["first"][0]));
  CHECK(home.has_run(home.keys["second"][0]));
  CHECK(home.has_run(home.keys["second"][1]));
  CHECK(home.dtctl.json({"status", "second"}).at("runs").size() == 2);
  home.check_rebuild_agrees();
  REQUIRE(home.dtctl.run({"remove", "last", "--runs", "--yes"}).ok());
  CHECK(dt::names_in(home.dtctl.home() / "runs").empty());
  CHECK(dt::names_in(home.dtctl.home() / "studies").empty());
  home.check_rebuild_agrees();
}

TEST_CASE("a study with a run that has not ended is refused, and nothing of it is removed")
{
  const Dtctl dtctl;
  dtctl.write("long.yaml", tiny_recipe("resources: {setup: [sleep 600]}\n"));
  const auto key = dtctl.json({"submit", "long.yaml"}).at("submissions")[0].at("key").get<std::string>();
  for (const Words& words : {Words{"remove", "last", "--yes"}, Words{"remove", "last", "--runs", "--yes"}}) {
    const auto refused = dtctl.run(words);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Contains("1 run of tiny has not ended: " + key.substr(0, 10)));
  }
  CHECK(fs::exists(dtctl.home() / "runs" / key / "attempts" / "1" / "submission.json"));
  CHECK(dtctl.json({"status", "--all"}).at("studies").size() == 1);
  dtctl.run({"cancel", "all"});
  dtctl.run({"status", "--follow", "all"});
  CHECK(dtctl.run({"remove", "last", "--runs", "--yes"}).ok());
  CHECK_FALSE(fs::exists(dtctl.home() / "runs" / key));
}

TEST_CASE("a removal that was killed is ended by the next, and repeated it removes what was asked for and nothing else")
{
  TwoStudies home;
  const auto& own = home.keys["first"][0];
  fs::create_directories(home.dtctl.home() / "removed");
  SECTION("killed between the first folder and the second")
  {
    fs::rename(home.dtctl.home() / "runs" / own, home.dtctl.home() / "removed" / ("run-" + own));
  }
  SECTION("killed before the database")
  {
    fs::rename(home.dtctl.home() / "runs" / own, home.dtctl.home() / "removed" / ("run-" + own));
    fs::rename(home.dtctl.home() / "studies" / home.ids["first"], home.dtctl.home() / "removed" / ("study-" + home.ids["first"]));
  }
  REQUIRE(home.dtctl.run({"remove", "first", "--runs", "--yes"}).ok());
  CHECK_FALSE(home.has_study("first"));
  CHECK_FALSE(fs::exists(home.dtctl.home() / "runs" / own));
  CHECK(home.has_run(home.keys["second"][0]));
  CHECK(home.has_run(home.keys["second"][1]));
  CHECK(dt::names_in(home.dtctl.home() / "removed").empty());
  home.check_rebuild_agrees();
}

TEST_CASE("while another study's record is damaged no run is removed, but the study itself may be")
{
  TwoStudies home;
  home.dtctl.run({"status", "first"});
  dt::replace_file(home.dtctl.home() / "studies" / home.ids["second"] / "study.json", "{");
  const auto refused = home.dtctl.run({"remove", "first", "--runs", "--yes"});
  CHECK(refused.exit_code == 74);
  CHECK_THAT(refused.err, Contains("study.json is damaged"));
  CHECK(home.has_study("first"));
  CHECK(home.has_run(home.keys["first"][0]));
  CHECK(home.dtctl.run({"remove", "first", "--yes"}).ok());
  CHECK(home.has_run(home.keys["first"][0]));
}

TEST_CASE("what is no study is not removed")
{
  TwoStudies home;
  for (const auto& what : {home.keys["first"][0], std::string("all"), std::string("unheard-of")})
    CHECK(home.dtctl.run({"remove", what, "--runs", "--yes"}).exit_code == 2);
  CHECK(home.dtctl.run({"remove", "--yes"}).exit_code == 2);
  CHECK(home.has_run(home.keys["first"][0]));
}

TEST_CASE("a removal that fails puts everything back, also where runs is a link to another file system")
{
  const Dtctl dtctl;
  const dt::Home home(dtctl.home());
  const dt::test::OtherFileSystem other;
  const bool is_link = GENERATE(false, true);
  if (is_link && !other.differs_from(dtctl.folder())) return; // /dev/shm is missing here, or no file system of its own
  fs::create_directories(home.root());
  if (is_link) fs::create_directory_symlink(other.folder(), home.runs());
  for (const auto* name : {"one", "two"}) {
    fs::create_directories(home.run(name));
    dt::replace_file(home.run(name) / "spec.json", name);
  }
  {
    dt::cli::Removal removal{dt::LockedHome(home)};
    removal.take(home.run("one"), "run-one");
    removal.take(home.run("none"), "run-none");
    removal.take(home.run("two"), "run-two");
    CHECK_FALSE(fs::exists(home.run("one")));
  }
  CHECK(dt::read_file(home.run("one") / "spec.json") == "one");
  CHECK(dt::read_file(home.run("two") / "spec.json") == "two");
  dt::cli::Removal removal{dt::LockedHome(home)};
  removal.take(home.run("one"), "run-one");
  removal.commit();
  CHECK(dt::names_in(home.runs()) == Words{"two"});
}
