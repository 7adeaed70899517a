#include "core/text.hpp"
#include "tests/store/fixture.hpp"
#include "tests/support/unreadable.hpp"

#include <array>

#include "store/database/sqlite.hpp"

#include <map>

#include <sys/stat.h>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;
using dt::test::make_unreadable;

namespace {

// Every row of every table in an order of its own, ids replaced by the keys they stand for: ids depend on who came first.
std::map<std::string, std::vector<std::string>> dump(Database& database)
{
  auto& connection = database.impl().connection;
  std::map<std::string, std::vector<std::string>> tables;
  auto names = connection.statement("SELECT name FROM sqlite_schema WHERE type = 'table'");
  while (names.next()) {
    std::string columns;
    auto info = connection.statement("SELECT name FROM pragma_table_info(?)");
    info.bind(names.text(0));
    while (info.next()) {
      const auto name = info.text(0);
      if (name == "id") continue;
      const auto value = name == "run_id"     ? std::string("(SELECT key FROM runs WHERE id = run_id)")
                         : name == "study_id" ? std::string("(SELECT key FROM studies WHERE id = study_id)")
                                              : "\"" + name + "\"";
      columns += (columns.empty() ? "quote(" : " || ',' || quote(") + value + ")";
    }
    auto& lines = tables[names.text(0)];
    auto rows = connection.statement("SELECT " + columns + " AS line FROM " + names.text(0) + " ORDER BY line");
    while (rows.next()) lines.push_back(rows.text(0));
  }
  return tables;
}

// Runs in every state, two studies that share a run, a run of no study.
struct Varied : Site {
  Varied()
  {
    auto database = open();
    const auto good = run_well(sample_spec(1), 100), retried = plan(sample_spec(2)), running = plan(sample_spec(4)),
               waiting = plan(sample_spec(8)), alone = run_well(sample_spec(16), 900);
    ingest_study(database, study({running, good, retried, waiting}));
    fail(begin(retried, 1));
    ingest(database, {good, retried});
    put_file(begin(running, 1).events(), step_lines(1, 3));
    ingest(database, {running, alone});
    succeed(retried, begin(retried, 2), 190);
    put_file(begin(running, 1).events(), step_lines(1, 9));
    ingest_study(database, study({good}, "single", 1800000000, "again"));
    ingest(database, {waiting, running, retried, good});
  }
};

} // namespace

TEST_CASE("rebuild makes the database again that ingest made step by step")
{
  const Varied site;
  auto before_database = site.open();
  const auto before = dump(before_database);
  CHECK(before.at("runs").size() == 5);
  CHECK(before.at("steps").size() == 20 + 7 + 20 + 9 + 20);
  const auto report = site.rebuild();
  CHECK(report.problems.empty());
  CHECK(report.runs_added == 5);
  auto after = site.open();
  CHECK(dump(after) == before);
  CHECK(after.check().empty());
  CHECK(dump(before_database) == before); // a connection that was open all the while sees it too
}

TEST_CASE("rebuild twice gives the same file content, ids included")
{
  const Varied site;
  const auto content = [&] {
    auto database = site.open();
    std::string text;
    for (const auto* table : {"runs", "studies", "study_runs", "attempts", "results", "environment"})
      for (const auto& row : ask(database, std::string("SELECT * FROM ") + table + " ORDER BY 1, 2").rows)
        for (const auto& cell : row)
          text += std::visit(
                      [](const auto& v) -> std::string {
                        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>)
                          return "NULL";
                        else if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>)
                          return v;
                        else
                          return std::to_string(v);
                      },
                      cell) +
                  "|";
    return text;
  };
  site.rebuild();
  const auto first = content();
  site.rebuild();
  CHECK(content() == first);
}

TEST_CASE("rebuild makes a database where there was none, and leaves nothing else behind")
{
  const Varied site;
  for (const auto* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(site.home.database().string() + suffix);
  CHECK(site.rebuild().runs_added == 5);
  CHECK_FALSE(std::filesystem::exists(site.home.database().string() + ".new"));
  auto database = site.open(Access::read_only);
  CHECK(ask_text(database, "SELECT count(*) FROM runs") == "5");
}

TEST_CASE("rebuild puts a damaged file aside and makes a whole one")
{
  const Varied site;
  for (const auto* suffix : {"-wal", "-shm"}) std::filesystem::remove(site.home.database().string() + suffix);
  put_file(site.home.database(), "this is no database at all, it only has its name and some length to it");
  CHECK(error_of([&] { site.open(); }) ==
        "environment: " + site.home.database().string() +
            " is damaged (file is not a database). Rebuild it from the run folders with: dtctl db rebuild");
  CHECK(site.rebuild().runs_added == 5);
  CHECK(std::filesystem::exists(site.home.database().string() + ".damaged"));
  auto database = site.open();
  CHECK(database.check().empty());
}

TEST_CASE("rebuild makes the database again whichever page of it is damaged, and whatever lies there instead")
{
  const Varied site;
  constexpr std::size_t page_bytes = 4096;
  const auto whole = read_file(site.home.database());
  const auto damage = [&](std::size_t begin, std::size_t bytes, char byte) {
    for (const auto* suffix : {"", "-wal", "-shm", ".damaged"}) std::filesystem::remove(site.home.database().string() + suffix);
    put_file(site.home.database(), std::string(whole).replace(begin, bytes, bytes, byte));
  };
  const auto check_rebuilt = [&] {
    CHECK(site.rebuild().runs_added == 5);
    CHECK(site.open().check().empty());
  };
  for (std::size_t page = 0; page < whole.size() / page_bytes; ++page)
    for (const char byte : {'\xff', '\0', 'x'}) {
      INFO("page " << page + 1 << " of bytes " << static_cast<int>(byte));
      damage(page * page_bytes, page_bytes, byte);
      check_rebuilt();
      if (page > 3) break; // pages of data need no more than one try
    }
  damage(whole.size() - 20000, 20000, 'x'); // rows
  CHECK_FALSE(site.open().check().empty());
  check_rebuilt();
  damage(page_bytes, whole.size() - page_bytes, 'x'); // it has the header, and the list of tables is too long for it
  check_rebuilt();
  CHECK(std::filesystem::exists(site.home.database().string() + ".damaged"));
}

TEST_CASE("a database that lacks what the folders have, or has what they have lost, is told from one that does not")
{
  Varied site;
  auto database = site.open();
  CHECK(differences_from(site.home, database).problems.empty());
  const auto later = site.run_well(sample_spec(64), 100);
  const auto known = ask_text(database, "SELECT key FROM runs WHERE state = 'succeeded' AND key <> '" + later.key + "' LIMIT 1");
  const auto study = site.study({later}, "sweep", 1800000000, "later");
  std::filesystem::remove_all(site.home.run(known));
  const auto problems = differences_from(site.home, database).problems;
  const auto text = join(problems, "\n");
  CHECK_THAT(text, Catch::Contains("run " + later.key + " is in the home, but not in the database"));
  CHECK_THAT(text, Catch::Contains("run " + known + " is in the database, but its folder is gone"));
  CHECK_THAT(text, Catch::Contains("study " + study.id + " is in the home, but not in the database"));
}

TEST_CASE("rebuild reports a damaged study and a damaged run, and goes on")
{
  const Varied site;
  make_folders(site.home.study("broken"));
  put_file(site.home.study("broken") / "study.json", "{");
  make_folders(site.home.run("strange"));
  make_folders(site.home.runs() / ".hidden");
  const auto report = site.rebuild();
  CHECK(report.runs_added == 5);
  REQUIRE(report.problems.size() == 1);
  CHECK_THAT(report.problems[0], Catch::StartsWith((site.home.study("broken") / "study.json").string()));
}

TEST_CASE("rebuild that fails leaves the old database as it was")
{
  const Varied site;
  auto database = site.open();
  const auto before = dump(database);
  CHECK_THROWS_AS(
      rebuild(LockedHome(site.home),
              [](std::span<const std::string>) -> std::vector<RunVerdict> { throw Error(ErrorKind::scheduler, "down"); }),
      Error);
  CHECK(dump(database) == before);
  CHECK_FALSE(std::filesystem::exists(site.home.database().string() + ".new"));
}

TEST_CASE("rebuild leaves a good database alone when the runs, the studies or one run's records cannot be read, and names them")
{
  const Varied site;
  const auto attempts = site.home.run(site.run_well(sample_spec(1), 100).key) / "attempts";
  auto database = site.open();
  const auto before = dump(database);
  const auto folder = std::array{site.home.runs(), site.home.studies(), attempts}[GENERATE(0U, 1U, 2U)];
  make_unreadable(folder);
  CHECK_THAT(error_of([&] { site.rebuild(); }), Catch::StartsWith("environment: read folder " + folder.string() + ": "));
  CHECK(dump(database) == before);
}

TEST_CASE("where there is no database, rebuild leaves out the run that cannot be read and takes in the others")
{
  const Varied site;
  const auto hidden = site.run_well(sample_spec(1), 100);
  make_unreadable(site.home.run(hidden.key) / "attempts");
  for (const auto* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(site.home.database().string() + suffix);
  const auto report = rebuild(LockedHome(site.home), [&](std::span<const std::string> keys) {
    std::vector<RunVerdict> verdicts;
    for (const auto& key : keys)
      verdicts.push_back(key == hidden.key ? RunVerdict{key, RunState::unknown, "unreadable", "", 1} : site.judge(key));
    return verdicts;
  });
  REQUIRE(report.unreadable.size() == 1);
  CHECK_THAT(report.unreadable.front(), Catch::Contains(hidden.key));
  auto database = site.open();
  CHECK(ask_text(database, "SELECT count(*) > 3 FROM runs WHERE model_name IS NOT NULL") == "1");
}

TEST_CASE("rebuild reports a folder or a FIFO in a record's place, and takes in the other runs")
{
  const Varied site;
  const AttemptFolder attempt(site.home.run(site.run_well(sample_spec(1), 100).key), 1);
  const auto record = std::array{attempt.begin(), attempt.events(), attempt.launches()}[GENERATE(0U, 1U, 2U)];
  std::filesystem::remove(record);
  const bool is_fifo = GENERATE(true, false);
  REQUIRE((is_fifo ? ::mkfifo(record.c_str(), 0600) : ::mkdir(record.c_str(), 0700)) == 0);
  const auto report = site.rebuild();
  CHECK(report.runs_added == 4);
  REQUIRE(report.problems.size() == 1);
  CHECK_THAT(report.problems[0], Catch::StartsWith("read " + record.string() + (is_fifo ? ": Is a FIFO" : ": Is a directory")));
}

TEST_CASE("a database without a byte is none: it is not opened as one without runs")
{
  const Varied site;
  for (const auto* suffix : {"-wal", "-shm"}) std::filesystem::remove(site.home.database().string() + suffix);
  std::filesystem::resize_file(site.home.database(), 0);
  CHECK_FALSE(holds_anything(site.home.database()));
  CHECK(error_of([&] { site.open(Access::read_only); }).starts_with("environment: there is no results database at"));
  CHECK(site.rebuild().runs_added == 5);
  CHECK(holds_anything(site.home.database()));
}
