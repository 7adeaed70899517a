#include "store/migrations.hpp"
#include "tests/store/fixture.hpp"

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

constexpr int new_file = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

} // namespace

TEST_CASE("migrations are numbered from 1 without gaps")
{
  int expected = 0;
  for (const auto& migration : migrations()) CHECK(migration.version == ++expected);
  CHECK(latest_version() == expected);
}

TEST_CASE("a database of every older version is brought to the newest with its rows")
{
  for (int old = 1; old < latest_version(); ++old) {
    const Site site;
    {
      Connection connection(site.home.database(), new_file, 1);
      migrate(connection, old);
      CHECK(schema_version(connection) == old);
      connection.execute("INSERT INTO runs (key) VALUES ('abc')");
    }
    auto database = site.open();
    CHECK(database.version() == latest_version());
    CHECK(ask_text(database, "SELECT key FROM runs") == "abc");
    CHECK(database.check().empty());
  }
}

TEST_CASE("a migrated database has the schema of a new one")
{
  const Site old_site, new_site;
  {
    Connection connection(old_site.home.database(), new_file, 1);
    migrate(connection, 1);
  }
  auto migrated = old_site.open(), fresh = new_site.open();
  const auto* schema = "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY type, name)";
  CHECK(ask_text(migrated, schema) == ask_text(fresh, schema));
}

TEST_CASE("a database of a newer dtctl is refused and left alone")
{
  const Site site;
  {
    auto database = site.open();
    database.impl().connection.execute("PRAGMA user_version = 99");
  }
  const auto expected = "environment: " + site.home.database().string() + " has format 99 and this dtctl knows formats up to " +
                        std::to_string(latest_version()) +
                        ": a newer dtctl made it. Use that one, or move the file away and call: dtctl db rebuild";
  CHECK(error_of([&] { site.open(); }) == expected);
  CHECK(error_of([&] { site.open(Access::read_only); }) == expected);
  CHECK(error_of([&] { site.rebuild(); }) == expected);
  Connection connection(site.home.database(), SQLITE_OPEN_READONLY, 1);
  CHECK(connection.integer_of("PRAGMA user_version") == 99);
}

TEST_CASE("a database of an older dtctl is not read without a migration")
{
  const Site site;
  {
    Connection connection(site.home.database(), new_file, 1);
    migrate(connection, 1);
  }
  CHECK(error_of([&] { site.open(Access::read_only); }) == "environment: " + site.home.database().string() +
                                                               " has the older format 1. Bring it to format " +
                                                               std::to_string(latest_version()) + " with: dtctl db migrate");
}

TEST_CASE("another program's database is refused")
{
  const Site site;
  {
    Connection connection(site.home.database(), new_file, 1);
    connection.execute("CREATE TABLE bookmarks (url TEXT)");
  }
  CHECK(error_of([&] { site.open(); }) ==
        "environment: " + site.home.database().string() +
            " is another program's database. Move it away, or choose another folder with DTCTL_HOME");
}
