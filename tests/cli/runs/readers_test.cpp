// Which verbs make something in the home: a table of all of them.
#include "cli/command/commands.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/files/file.hpp"
#include "core/home/locked_home.hpp"
#include "core/text.hpp"
#include "tests/cli/report/pictured_home.hpp"
#include "tests/cli/serve/served_home.hpp"
#include "tests/support/eventually.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <CLI/App.hpp>
#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::split;
using dt::test::Dtctl;
using dt::test::eventually;
using dt::test::PicturedHome;
using dt::test::Served;
using dt::test::Words;

namespace {

enum class Makes {
  nothing,  // it reads
  no_home,  // it changes what is there
  anything, // it adds something, and makes a home for it; or it is no verb for users
};

struct Row {
  Makes makes;
  std::vector<std::string> lines; // of arguments: the verb's ways to read, or to change
};

// FILE is a recipe, OUT a place outside the home, KEY a run.
const std::map<std::string, Row>& rows()
{
  static const std::map<std::string, Row> table{
      {"new", {Makes::nothing, {"OUT.yaml --model lenet"}}},
      {"validate", {Makes::nothing, {"FILE"}}},
      {"recipe schema", {Makes::nothing, {""}}},
      {"recipe list", {Makes::nothing, {""}}},
      {"recipe docs", {Makes::nothing, {""}}},
      {"recipe platforms", {Makes::nothing, {""}}},
      {"recipe models", {Makes::nothing, {""}}},
      {"recipe strategies", {Makes::nothing, {""}}},
      {"data list", {Makes::nothing, {""}}},
      {"data show", {Makes::nothing, {"nothing"}}},
      {"data check", {Makes::nothing, {"nothing"}}},
      {"data make", {Makes::anything, {}}},
      {"data pack", {Makes::anything, {}}},
      {"data import", {Makes::anything, {}}},
      {"data remove", {Makes::no_home, {"nothing --yes"}}},
      {"sweep", {Makes::nothing, {"FILE --dry-run", "FILE --dry-run --scripts"}}}, // without --dry-run it submits
      {"retry", {Makes::no_home, {"last", "all"}}},
      {"cancel", {Makes::no_home, {"last", "all"}}},
      {"status",
       {Makes::nothing, {"", "all", "last", "--all", "--all --json", "last --follow --timeout 1s", "all --follow --timeout 1s"}}},
      {"logs", {Makes::nothing, {"last", "KEY"}}},
      {"results", {Makes::nothing, {"", "last --why", "all --json"}}},
      {"compare", {Makes::nothing, {"last", "last last"}}},
      {"trend", {Makes::nothing, {"throughput", "throughput last"}}},
      {"explain", {Makes::nothing, {"last", "KEY", "last --failed"}}},
      {"predict", {Makes::no_home, {"last --ranks 8"}}}, // it keeps what it predicts
      {"simulate", {Makes::no_home, {"last --platform ethernet-25g"}}},
      {"query", {Makes::nothing, {"SELECT(1)", "SELECT\tkey\tFROM\truns"}}},
      {"show", {Makes::nothing, {"last", "KEY", "last --recipe"}}},
      {"report", {Makes::nothing, {"last -o OUT.html"}}},
      {"plot", {Makes::nothing, {"last --kind speedup", "last --kind speedup -o OUT.svg"}}},
      {"serve", {Makes::anything, {}}}, // of its own test
      {"export",
       {Makes::nothing,
        {"all --format csv", "all --format prometheus -o OUT.prom", "all --format jsonl", "KEY --format trace -o OUT.json",
         "KEY -o OUT.safetensors"}}},
      {"note",
       {Makes::no_home, {"last", "last words --tag paper", "--baselines", "last --baseline main", "--forget-baseline main"}}},
      {"remove", {Makes::no_home, {"last --yes"}}},
      {"db migrate", {Makes::no_home, {""}}},
      {"db rebuild", {Makes::no_home, {""}}},
      {"db check", {Makes::nothing, {""}}},
      {"db columns", {Makes::nothing, {""}}},
      {"config show", {Makes::nothing, {""}}},
      {"config paths", {Makes::nothing, {""}}},
      {"doctor", {Makes::nothing, {""}}},
      {"completion", {Makes::nothing, {"bash"}}},
      {"help", {Makes::nothing, {"", "status"}}},
      {"supervise", {Makes::anything, {}}},
      {"__complete", {Makes::nothing, {"-- status l", "-- results "}}},
      {"man", {Makes::nothing, {""}}},
  };
  return table;
}

void add_names(const CLI::App& app, std::set<std::string>& names)
{
  const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
  if (verbs.empty()) names.insert(dt::cli::verb_name(app));
  for (const auto* verb : verbs) add_names(*verb, names);
}

// The names below a folder, and whether the folder is there.
std::set<std::string> tree_of(const fs::path& folder)
{
  std::set<std::string> names;
  if (!fs::exists(folder)) return names;
  names.insert(".");
  for (const auto& entry : fs::recursive_directory_iterator(folder)) names.insert(entry.path().lexically_relative(folder));
  return names;
}

// Runs all ways of all verbs that `is_meant`, and expects that the home has the same files after each.
template<class Meant> void expect_nothing_made(const PicturedHome& place, const fs::path& home, Meant is_meant)
{
  const auto recipe = place.dtctl.write("recipe.yaml", dt::test::tiny_recipe());
  const auto before = tree_of(home);
  for (const auto& [verb, row] : rows())
    for (const auto& line : row.lines) {
      if (!is_meant(row.makes)) continue;
      auto words = split(verb, ' ');
      for (auto word : split(line, ' ')) {
        if (word.empty()) continue;
        if (word == "FILE") word = recipe.string();
        if (word == "KEY") word = place.runs.front().key;
        if (word.starts_with("OUT")) word = (place.dtctl.folder() / word).string();
        std::replace(word.begin(), word.end(), '\t', ' ');
        words.push_back(word);
      }
      const auto result = place.dtctl.run(words, {"DTCTL_HOME=" + home.string()});
      INFO(verb << ' ' << line << "\n" << result.out << result.err);
      CHECK(result.exit_code != 70);
      std::vector<std::string> made;
      for (const auto& name : tree_of(home)) // SQLite's own files beside a database are no files of dtctl's
        if (!before.contains(name) && name != "results.db-shm" && name != "results.db-wal") made.push_back(name);
      CHECK(made == std::vector<std::string>{});
    }
}

} // namespace

TEST_CASE("every verb says in this table what it makes in the home")
{
  dt::cli::Commands commands;
  dt::cli::register_verbs(commands);
  std::set<std::string> names, in_table;
  add_names(commands.root(), names);
  for (const auto& [verb, row] : rows()) in_table.insert(verb);
  CHECK(names == in_table);
}

TEST_CASE("only verbs that add something make a home where there is none, and verbs that read make nothing in an empty folder")
{
  const PicturedHome place;
  expect_nothing_made(place, place.dtctl.folder() / "none", [](Makes makes) { return makes != Makes::anything; });
  const auto home = place.dtctl.folder() / "empty";
  dt::make_folders(home);
  expect_nothing_made(place, home, [](Makes makes) { return makes == Makes::nothing; });
}

TEST_CASE("verbs that read make no database of a home that has lost it, and know its runs")
{
  const PicturedHome place;
  const auto& home = place.site.home;
  expect_nothing_made(place, home.root(), [](Makes makes) { return makes == Makes::nothing; });
  const auto results = place.run({"results", "last"});
  CHECK(results.ok());
  CHECK_THAT(results.err, Contains(home.database().string() + " is missing"));
  REQUIRE(place.run({"db", "rebuild"}).ok());
  CHECK(place.run({"results", "last"}).out == results.out);
}

TEST_CASE("verbs that read make no lock and no reserve beside a database")
{
  const PicturedHome place;
  REQUIRE(place.run({"db", "rebuild"}).ok());
  const auto& root = place.site.home.root();
  for (const auto* name : {"results.db.lock", "reserve", "submit.lock", "identity.json"}) fs::remove(root / name);
  dt::make_folders(root / "pending");
  dt::write_file_atomic(root / "pending" / place.record.id, ""); // a study that its reader would like to take in
  expect_nothing_made(place, root, [](Makes makes) { return makes == Makes::nothing; });
}

TEST_CASE("a home that does not exist is named by those who look for it")
{
  const Dtctl dtctl;
  const auto home = dtctl.home().string();
  CHECK_THAT(dtctl.run({"status", "--all"}).err, Contains(home + " does not exist; "));
  const auto refused = dtctl.run({"cancel", "all"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains(home + " does not exist, so "));
}

TEST_CASE("serve makes no home, shows one that is made, and says when it is gone")
{
  const PicturedHome place;
  REQUIRE(place.run({"db", "rebuild"}).ok());
  const auto home = place.dtctl.folder() / "late";
  const Served served(place.dtctl, {"DTCTL_HOME=" + home.string()});
  const auto gone = Contains(home.string() + " is not there");
  const auto before = served.get();
  CHECK(before.status == 503);
  CHECK_THAT(before.body, gone);
  CHECK_FALSE(fs::exists(home));
  fs::rename(place.site.home.root(), home);
  const auto there = served.get();
  CHECK(there.status == 200);
  CHECK_THAT(there.body, Contains("pictured"));
  fs::rename(home, place.site.home.root());
  CHECK(served.get().status == 503);
  CHECK_THAT(served.get("study?id=" + place.record.id).body, gone);
}

TEST_CASE("a home without a lock is not taken, and no lock is made")
{
  const Dtctl dtctl;
  fs::create_directory(dtctl.home());
  CHECK_FALSE(dt::LockedHome::try_lock(dt::Home(dtctl.home())));
  CHECK(fs::is_empty(dtctl.home()));
}
