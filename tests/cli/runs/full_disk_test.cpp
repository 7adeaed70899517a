// A home on a disk without any space left: what reads answers, and what removes makes room.
#include "core/files/file.hpp"
#include "tests/cli/driver.hpp"
#include "tests/support/tiny_disk.hpp"

#include <algorithm>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <unistd.h>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::test::Dtctl;
using dt::test::tiny_recipe;
using dt::test::Words;

namespace {

constexpr std::size_t disk_bytes = 8 * 1024 * 1024;

// Two studies of two runs each that ended at once with exit code 3, on a disk of their own.
struct Disk {
  Disk() : disk((fs::create_directories(dtctl.home()), dtctl.home()), disk_bytes)
  {
    if (!disk.is_mounted()) return;                      // needs root
    fs::permissions(dtctl.home(), fs::perms::owner_all); // a tmpfs is open to all
    for (const std::string name : {"first", "second"}) {
      auto recipe = tiny_recipe("resources: {setup: [exit 3]}\nsweep: {matrix: {train.seed: [" +
                                std::string(name == "first" ? "1, 2" : "3, 4") + "]}}\n");
      dtctl.write(name + ".yaml", recipe.replace(recipe.find("name: tiny"), 10, "name: " + name));
      REQUIRE(dtctl.run({"sweep", name + ".yaml", "--wait"}).exit_code == 1);
    }
  }
  fs::path ballast() const { return dtctl.home() / "ballast"; }
  // Writes until not even one byte has room.
  void fill() const
  {
    const int file = ::open(ballast().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    for (std::string bytes(65536, '\0'); !bytes.empty(); bytes.resize(bytes.size() / 2))
      while (::write(file, bytes.data(), bytes.size()) > 0) {
      }
    ::close(file);
    REQUIRE(fs::space(dtctl.home()).available == 0);
  }
  void make_room() const { fs::remove(ballast()); }
  Words studies() const
  {
    Words names;
    const auto listed = dtctl.json({"status", "--all"});
    for (const auto& study : listed.at("studies")) names.push_back(study.at("name"));
    std::sort(names.begin(), names.end());
    return names;
  }
  std::size_t stored_runs() const { return dtctl.json({"query", "select key from runs"}).at("rows").size(); }
  std::size_t run_folders() const { return dt::names_in(dtctl.home() / "runs").size(); }
  void check_database() const { CHECK(dtctl.run({"db", "check"}).ok()); }

  Dtctl dtctl;
  dt::test::TinyDisk disk;
};

} // namespace

TEST_CASE("on a full disk status, list, results, explain and query answer from what is there, and say that there is no space")
{
  const Disk home;
  if (!home.disk.is_mounted()) return;
  home.fill();
  const std::vector<std::pair<Words, std::string>> verbs{{{"status", "first"}, "failed"},
                                                         {{"status", "--all"}, "second"},
                                                         {{"results", "first"}, "2 failed"},
                                                         {{"explain", "first"}, "exit code 3"},
                                                         {{"query", "select count(*) from runs"}, "4"}};
  for (const auto& [words, answer] : verbs) {
    const auto said = home.dtctl.run(words);
    INFO(words[0] << ": " << said.out << said.err);
    CHECK(said.exit_code < 2); // 1: runs have failed
    CHECK_THAT(said.out, Contains(answer));
    CHECK_THAT(said.err, Contains("no space left on the disk"));
  }
  home.make_room();
  CHECK(home.dtctl.run({"status", "--all"}).err.empty());
  home.check_database();
}

TEST_CASE("on a full disk a study with its runs is removed, which makes room, and the database knows it at once")
{
  const Disk home;
  if (!home.disk.is_mounted()) return;
  home.fill();
  const auto removed = home.dtctl.run({"remove", "first", "--runs", "--yes"});
  INFO(removed.out << removed.err);
  CHECK(removed.exit_code == 0);
  CHECK_THAT(removed.err, Contains("No space left on device"));
  CHECK(home.run_folders() == 2);
  CHECK(fs::space(home.dtctl.home()).available > 0);
  CHECK(home.studies() == Words{"second"});
  home.make_room();
  CHECK(home.studies() == Words{"second"});
  CHECK(home.stored_runs() == 2);
  home.check_database();
  CHECK(home.dtctl.run({"sweep", "first.yaml", "--wait"}).exit_code == 1);
  CHECK(home.studies() == Words{"first", "second"});
}

TEST_CASE("on a full disk a study is removed without its runs, and then another one, by the space that the home keeps for it")
{
  const Disk home;
  if (!home.disk.is_mounted()) return;
  home.fill();
  for (const std::string name : {"first", "second"}) {
    const auto removed = home.dtctl.run({"remove", name, "--yes"});
    INFO(removed.out << removed.err);
    CHECK(removed.exit_code == 0);
    CHECK_THAT(removed.err, Contains("No space left on device"));
    CHECK_THAT(removed.err, !Contains("warning: the folders are removed"));
    CHECK(fs::exists(home.dtctl.home() / "reserve"));
    CHECK(home.studies() == (name == "first" ? Words{"second"} : Words{}));
  }
  CHECK(home.run_folders() == 4);
  home.make_room();
  CHECK(home.studies().empty());
  CHECK(home.stored_runs() == 4);
  home.check_database();
}

TEST_CASE(
    "a removal for which the database found no space is ended by the next dtctl that finds some, but not after a new submission")
{
  const bool is_submitted_again = GENERATE(false, true);
  const Disk home;
  if (!home.disk.is_mounted()) return;
  fs::remove(home.dtctl.home() / "reserve");
  home.fill();
  const auto removed = home.dtctl.run({"remove", "first", "--yes"});
  INFO(removed.out << removed.err);
  CHECK(removed.exit_code == 0);
  CHECK_FALSE(dt::names_in(home.dtctl.home() / "removed").empty());
  CHECK(home.studies() == Words{"first", "second"});
  home.make_room();
  if (is_submitted_again) {
    REQUIRE(home.dtctl.run({"sweep", "first.yaml", "--wait"}).exit_code == 1);
    CHECK(home.studies() == Words{"first", "second"});
    CHECK(home.dtctl.json({"status", "first"}).at("runs").size() == 2);
  } else {
    CHECK(home.studies() == Words{"second"});
    CHECK(dt::names_in(home.dtctl.home() / "removed").empty());
  }
  home.check_database();
}

TEST_CASE("a used-up quota is a full disk: status answers and remove makes room")
{
  const Disk home;
  if (!home.disk.is_mounted()) return;
  home.fill();
  const Words quota{"LD_PRELOAD=" + fs::path(Dtctl::program()).parent_path().parent_path().string() +
                    "/tests/libused_up_quota.so"};
  const auto status = home.dtctl.run({"status", "first"}, quota);
  INFO(status.out << status.err);
  CHECK(status.exit_code == 0);
  CHECK_THAT(status.out, Contains("failed"));
  CHECK_THAT(status.err, Contains("no space left on the disk") && Contains("Disk quota exceeded"));
  const auto removed = home.dtctl.run({"remove", "first", "--yes"}, quota);
  INFO(removed.out << removed.err);
  CHECK(removed.exit_code == 0);
  CHECK_THAT(removed.err, Contains("Disk quota exceeded"));
  CHECK(home.studies() == Words{"second"});
}
