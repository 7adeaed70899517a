#include "tests/store/fixture.hpp"

#include "store/database/sqlite.hpp"

#include <filesystem>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

TEST_CASE("a new database is made with its folders, and says its format and journal mode")
{
  const dt::test::TemporaryFolder folder;
  Database database(folder.path() / "a" / "b" / "results.db", Access::read_write);
  CHECK(database.version() == latest_version());
  CHECK(database.file_system() == file_system_at(folder.path()).name);
  CHECK(database.journal_mode() == (file_system_at(folder.path()).local ? "wal" : "delete"));
  CHECK(database.check().empty());
}

TEST_CASE("a file system that is not local gets no write-ahead log")
{
  const Site site;
  site.open(); // in WAL mode, as made on a local disk and copied
  Connection connection(site.home.database(), SQLITE_OPEN_READWRITE, 1);
  prepare_for_writing(connection, false);
  CHECK(connection.text_of("PRAGMA journal_mode") == "delete");
  CHECK(connection.integer_of("PRAGMA synchronous") == 2);
}

TEST_CASE("a path with characters of a URI is that path, and reading a database that is not there says what to do and makes none")
{
  const Site site;
  CHECK(error_of([&] { site.open(Access::read_only); }) ==
        "environment: there is no results database at " + site.home.database().string() +
            ". Submit a recipe first, or rebuild it from the run folders with: dtctl db rebuild");
  CHECK_FALSE(std::filesystem::exists(site.home.database()));
  const auto file = site.folder.path() / "a?b#c%41 d" / "results.db";
  Database(file, Access::read_write);
  CHECK(std::filesystem::exists(file));
}

TEST_CASE("a database may have the longest path that a home is accepted with, and no longer one")
{
  const dt::test::TemporaryFolder folder;
  const auto database = [&](std::size_t bytes) {
    auto path = folder.path().string() + "/" + std::string(200, 'd') + "/";
    path += std::string(bytes - path.size() - std::string("/results.db").size() - 1 - 100, 'd') + "/" + std::string(100, 'd');
    make_folders(path);
    return std::filesystem::path(path) / "results.db";
  };
  CHECK_NOTHROW(Database(database(longest_database_path), Access::read_write));
  CHECK_THROWS(Database(database(longest_database_path + 1), Access::read_write));
}

TEST_CASE("a transaction that is not committed leaves nothing behind")
{
  auto [site, database] = Opened{};
  auto& connection = database.impl().connection;
  CHECK_THROWS_AS(database.impl().write([](Connection& c) {
    c.statement("INSERT INTO runs (key) VALUES (?)").run("abc");
    throw Error(ErrorKind::internal, "on purpose");
  }),
                  Error);
  CHECK(connection.integer_of("SELECT count(*) FROM runs") == 0);
  database.impl().write([](Connection& c) { c.statement("INSERT INTO runs (key) VALUES (?)").run("abc"); });
  CHECK(connection.integer_of("SELECT count(*) FROM runs") == 1);
}

TEST_CASE("a statement on loan twice at once gives both their own rows")
{
  auto [site, database] = Opened{};
  auto& connection = database.impl().connection;
  const std::string sql = "SELECT value FROM json_each('[1, 2]')";
  auto first = connection.statement(sql), second = connection.statement(sql);
  REQUIRE(first.next());
  REQUIRE(second.next());
  REQUIRE(second.next());
  CHECK(first.integer(0) == 1);
  CHECK(second.integer(0) == 2);
}

TEST_CASE("a number that was not measured is stored as NULL and read as not measured")
{
  auto [site, database] = Opened{};
  auto statement = database.impl().connection.statement("SELECT ?1, ?1 IS NULL");
  statement.bind(not_measured);
  REQUIRE(statement.next());
  CHECK(std::isnan(statement.real(0)));
  CHECK(statement.integer(1) == 1);
}

TEST_CASE("check names what breaks a rule")
{
  auto [site, database] = Opened{};
  const auto run = site.run_well(sample_spec(2), 190);
  site.take_in(database, {run});
  CHECK(database.check().empty());
  auto& connection = database.impl().connection;
  struct Damage {
    const char *sql, *finding;
  };
  for (const auto& [sql, finding] : std::vector<Damage>{
           {"DELETE FROM results", "succeeded but has no result"},
           {"UPDATE results SET attempt = 7", "shows the result of attempt 7, but its state is of attempt 1"},
           {"DELETE FROM attempts", "is succeeded but its attempt 1 is not there"},
           {"UPDATE runs SET ranks = 3", "has 3 ranks on 1 nodes of 2"},
           {"UPDATE results SET communication_share = 1.5", "has a communication share of 1.5, not between 0 and 1"},
           {"UPDATE results SET accuracy = 90", "has an accuracy of 90.0, not between 0 and 1"},
           {"DELETE FROM rank_phases WHERE rank = 1", "has a result of 1 ranks, not of 2"}}) {
    connection.execute("SAVEPOINT s");
    connection.execute(sql);
    CHECK(database.check().at(0) == "run " + run.key + " " + finding);
    connection.execute("ROLLBACK TO s");
    connection.execute("RELEASE s");
  }
  connection.execute("UPDATE study_runs SET position = 5");
  CHECK_THAT(database.check().at(0), Catch::EndsWith("has gaps in its list of runs"));
}

TEST_CASE("check finds rows that belong to nothing")
{
  auto [site, database] = Opened{};
  auto& connection = database.impl().connection;
  connection.execute("PRAGMA foreign_keys = OFF");
  connection.execute("INSERT INTO environment (run_id, name, value) VALUES (9, 'a', 'b'), (9, 'c', 'd')");
  CHECK(database.check() == std::vector<std::string>{"2 rows of environment belong to no row of runs"});
}
