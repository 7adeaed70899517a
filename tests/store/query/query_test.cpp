#include "tests/store/fixture.hpp"

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

struct QuerySite : Site {
  QuerySite() { ingest(database, {run_well(sample_spec(2), 190)}); }
  std::string refusal(const std::string& sql)
  {
    return error_of([&] { ask(database, sql); });
  }
  Database database = open();
};

} // namespace

TEST_CASE("a query answers with columns and typed cells")
{
  QuerySite s;
  const auto table =
      ask(s.database, "SELECT ranks, throughput AS rate, state, NULL AS missing, x'0aff' AS bytes FROM runs_flat;  -- end\n");
  CHECK(table.columns == std::vector<std::string>{"ranks", "rate", "state", "missing", "bytes"});
  CHECK(table.rows == std::vector<std::vector<Cell>>{{std::int64_t{2}, 190.0, "succeeded", std::monostate{}, "0aff"}});
  CHECK_FALSE(table.truncated);
}

TEST_CASE("a query may join, aggregate, use windows, CTEs and recursion")
{
  QuerySite s;
  CHECK(ask_text(s.database,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT sum(i) FROM n") == "55");
  CHECK(ask_text(s.database, "SELECT count(*) FROM steps JOIN runs ON runs.id = steps.run_id") == "20");
  CHECK(ask(s.database, "EXPLAIN QUERY PLAN SELECT * FROM runs").rows.size() == 1);
  CHECK(ask(s.database, "SELECT name FROM sqlite_schema WHERE name = 'runs_flat'").rows.size() == 1);
}

TEST_CASE("a query that would write is refused, whatever it writes to")
{
  QuerySite s;
  const auto refused = "usage: query: only reading is allowed. Write one SELECT";
  for (const auto* sql : {"DELETE FROM runs",
                          "INSERT INTO runs (key) VALUES ('x')",
                          "UPDATE runs SET state = 'failed'",
                          "DROP TABLE runs",
                          "CREATE TABLE t (a)",
                          "CREATE TEMP TABLE t (a)",
                          "CREATE VIEW v AS SELECT 1",
                          "CREATE INDEX i ON runs (cause)",
                          "ALTER TABLE runs RENAME TO r",
                          "ATTACH 'other.db' AS o",
                          "DETACH main",
                          "BEGIN",
                          "COMMIT",
                          "SAVEPOINT s",
                          "VACUUM",
                          "VACUUM INTO 'copy.db'",
                          "REINDEX",
                          "ANALYZE",
                          "WITH x AS (SELECT 1) DELETE FROM runs",
                          "EXPLAIN DELETE FROM runs",
                          "INSERT INTO runs (key) VALUES ('y') RETURNING id",
                          "CREATE VIRTUAL TABLE v USING fts5(a)"}) {
    INFO(sql);
    CHECK(s.refusal(sql) == refused);
  }
  CHECK(s.refusal("PRAGMA user_version = 5") ==
        "usage: query: only reading is allowed, not PRAGMA user_version. Write one SELECT");
  CHECK(s.refusal("PRAGMA writable_schema = 1") ==
        "usage: query: only reading is allowed, not PRAGMA writable_schema. Write one SELECT");
  CHECK_THAT(s.refusal("SELECT * FROM pragma_user_version"), Catch::Contains("usage: query: "));
  CHECK_THAT(s.refusal("SELECT load_extension('x.so')"), Catch::Contains("load_extension"));
  CHECK(ask_text(s.database, "SELECT count(*) FROM runs") == "1");
  CHECK(s.database.version() == latest_version());
  CHECK_FALSE(std::filesystem::exists("copy.db"));
  CHECK_FALSE(std::filesystem::exists("other.db"));
}

TEST_CASE("a query is exactly one statement")
{
  QuerySite s;
  CHECK(s.refusal("SELECT 1; SELECT 2") ==
        "usage: query: only one statement is allowed, and text follows the first one's semicolon");
  CHECK(s.refusal("SELECT 1; DROP TABLE runs") == "usage: query: only reading is allowed. Write one SELECT");
  CHECK(s.refusal("") == "usage: query: there is no statement in it. Write one SELECT");
  CHECK(s.refusal(" -- nothing\n ;") == "usage: query: there is no statement in it. Write one SELECT");
  CHECK(s.refusal("SELECT ?") == "usage: query: it has a parameter (? or :name) without a value. Write the value itself");
}

TEST_CASE("a mistaken query gets SQLite's own words")
{
  QuerySite s;
  CHECK(s.refusal("SELEC 1") == "usage: query: near \"SELEC\": syntax error");
  CHECK(s.refusal("SELECT thoughput FROM runs_flat") ==
        "usage: query: no such column: thoughput. See the columns of a table or view with: SELECT * FROM runs_flat LIMIT 1");
  CHECK(s.refusal("SELECT json('{')") == "usage: query: malformed JSON");
}

TEST_CASE("a query that runs too long is stopped and the database goes on")
{
  QuerySite s;
  QueryLimits limits;
  limits.time_s = 0.05;
  const auto* endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  CHECK(error_of([&] { query(s.database, endless, limits); }) ==
        "usage: query: it ran longer than 0.05 s and was stopped. Make it smaller, or raise the limit with --timeout");
  CHECK(ask_text(s.database, "SELECT count(*) FROM runs") == "1");
}

TEST_CASE("a query's rows are cut at the limit, and only then does it say so")
{
  QuerySite s;
  const auto rows = [&](std::int64_t limit, int count) {
    QueryLimits limits;
    limits.rows = limit;
    return query(s.database,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " + std::to_string(count) +
                     ") SELECT i FROM n",
                 limits);
  };
  CHECK(rows(10, 11).rows.size() == 10);
  CHECK(rows(10, 11).truncated);
  CHECK(rows(10, 10).rows.size() == 10);
  CHECK_FALSE(rows(10, 10).truncated);
}

TEST_CASE("a query's answer is cut when its texts grow too large")
{
  QuerySite s;
  QueryLimits limits;
  limits.bytes = 1000;
  const auto table = query(
      s.database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT printf('%.400c', 'x') FROM n", limits);
  CHECK(table.truncated);
  CHECK(table.rows.size() == 3);
  CHECK(s.refusal("SELECT length(zeroblob(1000000000))") == "usage: query: string or blob too big");
}

TEST_CASE("writing goes on after a query")
{
  QuerySite s;
  CHECK(s.refusal("DELETE FROM runs") != "no error");
  const auto run = s.run_well(sample_spec(4), 340);
  CHECK(s.ingest(s.database, {run}).runs_added == 1);
}
