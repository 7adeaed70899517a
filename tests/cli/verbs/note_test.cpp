// dtctl note: notes and tags stay with studies and runs, whatever becomes of the database.
#include "core/files/file.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using Catch::Contains;
using dt::test::Dtctl;
using dt::test::Json;
using dt::test::tiny_recipe;
using dt::test::Words;

namespace {

// A study of two runs that end at once, seeds 1 and 2.
struct NotedHome {
  NotedHome()
  {
    dtctl.write("tiny.yaml", tiny_recipe("resources: {setup: [exit 3]}\nsweep: {matrix: {train.seed: [1, 2]}}\n"));
    const auto report = dtctl.json({"sweep", "tiny.yaml", "--wait"});
    study = report.at("study");
    for (const auto& row : report.at("submissions")) keys.push_back(row.at("key"));
  }
  Json studies(const Words& more = {}) const { return dtctl.json(dt::test::with({"status", "--all"}, more)).at("studies"); }
  std::size_t count(const std::string& condition) const
  {
    return dtctl.json({"status", "all", "--where", condition}).at("runs").size();
  }
  Dtctl dtctl;
  std::string study;
  Words keys;
};

} // namespace

TEST_CASE("a note and tags of a study and of a run are shown, selected by, and exported")
{
  const NotedHome home;
  REQUIRE(home.dtctl.run({"note", "tiny", "--tag", "paper", "Figure 3:", "new switch"}).ok());
  REQUIRE(home.dtctl.run({"note", home.keys[1], "--tag", "outlier", "--tag", "b/2"}).ok());
  CHECK(home.studies()[0].at("tags") == "paper");
  CHECK(home.studies()[0].at("note") == "Figure 3: new switch");
  CHECK(home.studies({"--where", "tag=outlier"}).size() == 1);
  CHECK(home.studies({"--where", "tag=none"}).empty());
  CHECK(home.count("tag=paper") == 2); // the runs of a tagged study
  CHECK(home.count("tag=outlier") == 1);
  CHECK(home.count("tag!=outlier") == 1);
  CHECK(home.count("tag~OUT") == 1);
  CHECK(home.count("tag=''") == 0);
  CHECK(home.dtctl.json({"results", "tiny", "--where", "tag=outlier"}).at("runs")[0].at("tags") == "b/2 outlier");
  CHECK(home.dtctl.json({"show", "tiny"}).at("note") == "Figure 3: new switch");
  CHECK(home.dtctl.json({"show", home.keys[1]}).at("tags") == "b/2 outlier");
  CHECK_THAT(home.dtctl.run({"export", "tiny", "--format", "jsonl"}).out,
             Contains("\"study_tags\":\"paper\"") && Contains("\"tags\":\"b/2 outlier\""));
}

TEST_CASE("a text replaces the one before, --untag and --clear remove, and the verb alone changes nothing")
{
  const NotedHome home;
  home.dtctl.run({"note", "tiny", "--tag", "a", "--tag", "b", "first"});
  home.dtctl.run({"note", "tiny", "--untag", "a", "second"});
  auto note = home.dtctl.json({"note", "tiny"}).at("notes")[0];
  CHECK(note.at("kind") == "study");
  CHECK(note.at("tags") == Json{"b"});
  CHECK(note.at("note") == "second");
  home.dtctl.run({"note", "tiny", "--clear"});
  note = home.dtctl.json({"note", "tiny"}).at("notes")[0];
  CHECK(note.at("note") == "");
  CHECK(note.at("tags") == Json{"b"});
}

TEST_CASE("notes survive a rebuild and a lost database, and go with what is removed")
{
  const NotedHome home;
  home.dtctl.run({"note", "tiny", "--tag", "paper", "text"});
  home.dtctl.run({"note", home.keys[0], "--tag", "outlier"});
  REQUIRE(home.dtctl.run({"db", "rebuild"}).ok());
  CHECK(home.studies()[0].at("note") == "text");
  for (const auto* suffix : {"", "-wal", "-shm"}) std::filesystem::remove((home.dtctl.home() / "results.db").string() + suffix);
  CHECK(home.count("tag=outlier") == 1);
  REQUIRE(home.dtctl.run({"remove", "tiny", "--runs", "--yes"}).ok());
  CHECK_THAT(dt::read_file(home.dtctl.home() / "notes.json"), !Contains("outlier") && !Contains("paper"));
}

TEST_CASE("a notes.json that another program wrote is taken in, and a damaged one is named and left alone")
{
  const NotedHome home;
  home.dtctl.run({"note", "tiny", "--tag", "paper"});
  const auto file = home.dtctl.home() / "notes.json";
  auto text = dt::read_file(file);
  dt::write_file_atomic(file, text.replace(text.find("paper"), 5, "thesis"));
  CHECK(home.studies()[0].at("tags") == "thesis");
  dt::write_file_atomic(file, "{");
  const auto shown = home.dtctl.run({"status", "--all"});
  CHECK(shown.exit_code == 0);
  CHECK_THAT(shown.err, Contains(file.string() + " is damaged or of another format"));
  CHECK(home.studies()[0].at("tags") == "thesis"); // of before
  const auto refused = home.dtctl.run({"note", "tiny", "--tag", "more"});
  CHECK(refused.exit_code == 74);
  CHECK(dt::read_file(file) == "{");
}

TEST_CASE("names of tags, texts and conditions that cannot be are refused, and nothing is written")
{
  const NotedHome home;
  for (const Words& words : {Words{"note", "tiny", "--tag", "a b"},
                             {"note", "tiny", "--tag", "a", "--untag", "a"},
                             {"note", "tiny", std::string(10'001, 'x')},
                             {"note", "nothing", "text"},
                             {"note"},
                             {"status", "--where", "tag<a"}})
    CHECK(home.dtctl.run(words).exit_code == 2);
  CHECK_FALSE(std::filesystem::exists(home.dtctl.home() / "notes.json"));
}

TEST_CASE("the command of --notify runs when the wait is over, with what became of the runs in its environment")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", tiny_recipe("resources: {setup: [exit 3]}\nsweep: {matrix: {train.seed: [1, 2]}}\n"));
  const std::string command = "echo \"$DTCTL_STUDY $DTCTL_STATE $DTCTL_RUNS $DTCTL_FAILED $DTCTL_EXIT_CODE\" > told; echo out";
  const auto swept = dtctl.run({"sweep", "tiny.yaml", "--wait", "--notify", command});
  CHECK(swept.exit_code == 1);
  CHECK(dt::read_file(dtctl.folder() / "told") == "tiny failed 2 2 1\n");
  CHECK(swept.out.find("out") == std::string::npos); // standard output is dtctl's
  CHECK_THAT(swept.err, Contains("out\n"));
  std::filesystem::remove(dtctl.folder() / "told");
  const auto watched = dtctl.run({"status", "--follow", "tiny", "--notify", command + "; exit 7"});
  CHECK(watched.exit_code == 1);
  CHECK(dt::read_file(dtctl.folder() / "told") == "tiny failed 2 2 1\n");
  CHECK_THAT(watched.err, Contains("ended with exit code 7"));
  CHECK(dtctl.run({"sweep", "tiny.yaml", "--notify", command}).exit_code == 2); // without --wait
}
