#include "core/files/file.hpp"
#include "core/record/fields.hpp"
#include "store/database/migrations.hpp"
#include "tests/store/fixture.hpp"

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

constexpr int new_file = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

} // namespace

TEST_CASE("a file that lacks a column, a table and a view gets them, loses columns of before, and its runs are taken in again")
{
  const Site site;
  const auto run = site.run_well(sample_spec(1), 100);
  {
    auto database = site.open();
    site.ingest(database, {run});
    auto& connection = database.impl().connection;
    connection.execute(
        "DROP VIEW runs_flat; DROP VIEW runs_results; DROP VIEW times_to_target; DROP VIEW scaling; DROP TABLE probes");
    connection.execute("ALTER TABLE results DROP COLUMN wall_s");
    connection.execute("ALTER TABLE results ADD COLUMN forgotten_s REAL");
    connection.execute("UPDATE format SET schema_hash = 'older'");
  }
  CHECK(error_of([&] { site.open(Access::read_only); }) ==
        "environment: " + site.home.database().string() +
            " lacks columns or views of this dtctl. Add them with: dtctl db migrate");
  auto database = site.open();
  CHECK(ask_text(database, "SELECT wall_s IS NULL FROM runs_flat") == "1");
  CHECK(database.impl().connection.integer_of("SELECT count(*) FROM pragma_table_info('results') WHERE name = 'forgotten_s'") ==
        0);
  CHECK(runs_to_read_again(database) == std::vector{run.key});
  site.ingest(database, {run});
  CHECK(runs_to_read_again(database).empty());
  CHECK(ask_text(database, "SELECT wall_s IS NOT NULL AND throughput = 100 FROM runs_flat") == "1");
  CHECK(ask_text(database, "SELECT count(*) FROM probes") == "0");
  CHECK(database.check().empty());
}

TEST_CASE("a file of this version that has lost a column is told from a whole one, and gets the column and its content again")
{
  const Site site;
  const auto run = site.run_well(sample_spec(1), 100);
  const auto record = site.study({run});
  {
    auto database = site.open();
    ingest_study(database, record);
    site.ingest(database, {run});
    auto& connection = database.impl().connection;
    connection.execute("DROP VIEW runs_flat; DROP VIEW runs_results; DROP VIEW times_to_target; DROP VIEW scaling");
    connection.execute("ALTER TABLE results DROP COLUMN wall_s");
    connection.execute("ALTER TABLE studies DROP COLUMN description");
  }
  CHECK_THAT(error_of([&] { site.open(Access::read_only); }), Catch::Contains("lacks columns"));
  auto database = site.open();
  CHECK(runs_to_read_again(database) == std::vector{run.key});
  CHECK(studies_to_read_again(database) == std::vector{record.id});
  ingest_study(database, record);
  site.ingest(database, {run});
  CHECK(studies_to_read_again(database).empty());
  CHECK(ask_text(database, "SELECT wall_s FROM runs_flat") == "2.0");
  CHECK(ask_text(database, "SELECT description = '' FROM studies") == "1");
  CHECK(database.check().empty());
  CHECK_NOTHROW(site.open(Access::read_only));
}

TEST_CASE(
    "a table or an index of the user's own does not make a file another version's, but another program's database is refused")
{
  const Site site;
  site.open().impl().connection.execute("CREATE TABLE notes (text TEXT); CREATE INDEX my_index ON runs (data_id)");
  CHECK_NOTHROW(site.open(Access::read_only));
  const Site other;
  Connection(other.home.database(), new_file, 1).execute("CREATE TABLE bookmarks (url TEXT)");
  CHECK(error_of([&] { other.open(); }) ==
        "environment: " + other.home.database().string() +
            " is another program's database. Move it away, or set DTCTL_HOME to another folder");
}

TEST_CASE("a database of dtctl 0.1.0 gets what this dtctl added, and keeps its runs")
{
  const Site site;
  const auto run = site.run_well(sample_spec(1), 100);
  {
    Connection connection(site.home.database(), new_file, 1);
    connection.execute(read_file(std::filesystem::path(DTCTL_SOURCE_DIR) / "tests/golden/schema-0.1.0.sql"));
    connection.execute("INSERT INTO format (schema_hash, file_hash) VALUES ('of 0.1.0', 'of 0.1.0')");
    connection.execute("INSERT INTO runs (key, state, ranks) VALUES ('" + run.key + "', 'succeeded', 1)");
    connection.execute("PRAGMA application_id = " + std::to_string(0x64746374));
    connection.execute("PRAGMA user_version = 1");
  }
  auto database = site.open();
  CHECK(runs_to_read_again(database) == std::vector{run.key});
  site.ingest(database, {run});
  CHECK(ask_text(database, "SELECT key || ' ' || throughput FROM runs_flat") == run.key + " 100.0");
  CHECK(database.check().empty());
  CHECK_NOTHROW(site.open(Access::read_only));
}

TEST_CASE("every field of a result has a column in its table and in both views")
{
  auto [site, database] = Opened{};
  for (const auto& field : result_fields())
    for (const auto* table : {"results", "runs_results", "runs_flat"}) {
      INFO(table << "." << field.column());
      CHECK(database.impl().connection.integer_of("SELECT count(*) FROM pragma_table_info('" + std::string(table) +
                                                  "') WHERE name = '" + field.column() + "'") == 1);
    }
}

TEST_CASE("a database of a newer dtctl is refused and left alone")
{
  const Site site;
  site.open().impl().connection.execute("PRAGMA user_version = 99");
  for (const auto& refusal :
       {error_of([&] { site.open(); }), error_of([&] { site.open(Access::read_only); }), error_of([&] { site.rebuild(); })})
    CHECK(refusal == "environment: " + site.home.database().string() + " has format 99, but this dtctl supports formats up to " +
                         std::to_string(latest_version()) +
                         ": a newer dtctl wrote it. Use that version, or move the file away and run: dtctl db rebuild");
  CHECK(Connection(site.home.database(), SQLITE_OPEN_READONLY, 1).integer_of("PRAGMA user_version") == 99);
}
