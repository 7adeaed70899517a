#include "tests/store/fixture.hpp"

#include <cmath>
#include <limits>
#include <set>

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

namespace {

// Two labels on one size with a target: `sure` reaches it in 3, 4 and 5 s, `rare` in 1 s and misses it twice.
struct TargetSite : Site {
  TargetSite()
  {
    std::vector<PlannedRun> runs;
    for (const auto& [label, times] :
         {std::pair{"sure", std::vector{3.0, 4.0, 5.0}}, {"rare", {1.0, not_measured, not_measured}}})
      for (std::size_t repeat = 0; repeat < times.size(); ++repeat) runs.push_back(run(label, repeat, times[repeat]));
    ingest_study(database, study(runs, "sweep"));
    ingest(database, runs);
  }

  PlannedRun run(const std::string& label, std::size_t repeat, double time_s) const
  {
    auto spec = sample_spec(2, static_cast<std::int64_t>(repeat));
    spec.label = "strategy=" + label;
    spec.train.seed = label == "sure" ? 1 : 2;
    spec.train.target_accuracy = 0.8;
    const auto planned = plan(spec);
    auto result = sample_result(spec, 100);
    result.time_to_accuracy_s = time_s;
    result.samples_to_accuracy = std::isnan(time_s) ? 0 : 640;
    const auto attempt = begin(planned, 1);
    put_result(attempt, result);
    return planned;
  }

  Database database = open();
};

} // namespace

TEST_CASE("the view times_to_target ranks a point that all of its runs reached ahead of one that most runs missed")
{
  TargetSite s;
  const auto table = ask(s.database, "SELECT label, reached, target_runs, time_to_target_s FROM times_to_target");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0][0] == Cell("strategy=sure"));
  CHECK(table.rows[0][1] == Cell(std::int64_t{3}));
  CHECK(std::get<double>(table.rows[0][3]) == Approx(std::cbrt(60.0)));
  CHECK(table.rows[1] ==
        std::vector<Cell>{"strategy=rare", std::int64_t{1}, std::int64_t{3}, std::numeric_limits<double>::infinity()});
}

TEST_CASE("time_to_target() of runs is that of their point, where avg() would prefer what mostly fails")
{
  TargetSite s;
  const auto ranked = [&](const std::string& figure) {
    return ask_text(s.database, "SELECT series FROM runs_flat GROUP BY series ORDER BY " + figure + " LIMIT 1");
  };
  CHECK(ranked("avg(time_to_accuracy_s)") == "strategy=rare");
  CHECK(ranked("time_to_target(time_to_accuracy_s, reached_target)") == "strategy=sure");
  CHECK(ask_text(s.database,
                 "SELECT time_to_target(time_to_accuracy_s, reached_target) FROM runs_flat WHERE series LIKE '%sure'") ==
        ask_text(s.database, "SELECT time_to_target_s FROM times_to_target WHERE label LIKE '%sure'"));
  CHECK(ask_text(s.database, "SELECT group_concat(reached_target, ' ') FROM runs_flat") == "1 1 1 1 0 0");
}

TEST_CASE("geometric_mean(), median() and time_to_target() leave out NULL, and are NULL of nothing")
{
  QuerySite s;
  const auto of = [&](const std::string& function, const std::string& values) {
    return ask(s.database, "SELECT " + function + " FROM (SELECT column1 AS x, column2 AS y FROM (VALUES " + values + "))")
        .rows[0][0];
  };
  CHECK(std::get<double>(of("geometric_mean(x)", "(2, 0), (NULL, 0), (8, 0)")) == Approx(4));
  CHECK(of("geometric_mean(x)", "(2, 0), (0, 0)") == Cell());
  CHECK(of("median(x)", "(1, 0), (9, 0), (NULL, 0), (2, 0)") == Cell(2.0));
  CHECK(of("time_to_target(x, y)", "(1, 1), (2, 1), (NULL, 0), (7, NULL)") == Cell(2.0));
  CHECK(of("time_to_target(x, y)", "(1, 1), (NULL, 0), (NULL, 0)") == Cell(std::numeric_limits<double>::infinity()));
  for (const auto* function : {"geometric_mean(x)", "median(x)", "time_to_target(x, y)"}) {
    CHECK(of(function, "(NULL, NULL)") == Cell());
    CHECK(ask(s.database, "SELECT " + std::string(function) + " FROM (SELECT 1 AS x, 1 AS y WHERE 0)").rows[0][0] == Cell());
  }
}

TEST_CASE("no view has two columns of one name, and each view of points and runs says what was simulated")
{
  QuerySite s;
  const auto views = ask(s.database, "SELECT name FROM sqlite_schema WHERE type = 'view'");
  CHECK(views.rows.size() == 6);
  for (const auto& view : views.rows) {
    const auto name = std::get<std::string>(view[0]);
    std::set<std::string> names;
    for (const auto& column : ask(s.database, "SELECT * FROM " + name + " LIMIT 0").columns) {
      CAPTURE(name, column);
      CHECK(names.insert(column).second);
      CHECK(column.find(':') == std::string::npos); // SQLite's name for a second one
    }
    if (name != "tagged_runs") CHECK(names.contains("platform"));
  }
}

TEST_CASE("a query that would write is refused, whatever it writes to")
{
  QuerySite s;
  const auto is_refused = [&](const std::string& sql) {
    INFO(sql);
    CHECK(s.refusal(sql) == "usage: query: only reading is allowed. Write one SELECT");
  };
  for (const auto* sql :
       {"DELETE FROM runs", "INSERT INTO runs (key) VALUES ('x')", "UPDATE runs SET state = 'failed'", "DROP TABLE runs",
        "CREATE TABLE t (a)", "CREATE TEMP TABLE t (a)", "CREATE VIEW v AS SELECT 1", "CREATE INDEX i ON runs (cause)",
        "ALTER TABLE runs RENAME TO r", "ATTACH 'other.db' AS o", "DETACH main", "CREATE VIRTUAL TABLE v USING fts5(a)"})
    is_refused(sql);
  for (const auto* sql : {"BEGIN", "COMMIT", "SAVEPOINT s", "VACUUM", "VACUUM INTO 'copy.db'", "REINDEX", "ANALYZE"})
    is_refused(sql);
  for (const auto* sql : {"WITH x AS (SELECT 1) DELETE FROM runs", "EXPLAIN DELETE FROM runs",
                          "INSERT INTO runs (key) VALUES ('y') RETURNING id", "SELECT 1; DROP TABLE runs"})
    is_refused(sql);
  for (const auto* pragma : {"PRAGMA user_version", "PRAGMA writable_schema"})
    CHECK(s.refusal(pragma + std::string(" = 1")) ==
          "usage: query: only reading is allowed, not " + std::string(pragma) + ". Write one SELECT");
  CHECK_THAT(s.refusal("SELECT * FROM pragma_user_version"), Catch::Contains("usage: query: "));
  CHECK_THAT(s.refusal("SELECT load_extension('x.so')"), Catch::Contains("load_extension"));
  CHECK(ask_text(s.database, "SELECT count(*) FROM runs") == "1");
  CHECK(s.database.version() == latest_version());
  for (const auto* file : {"copy.db", "other.db"}) CHECK_FALSE(std::filesystem::exists(file));
  const auto run = s.run_well(sample_spec(4), 340); // writing goes on
  CHECK(s.ingest(s.database, {run}).runs_added == 1);
}

TEST_CASE("a query is exactly one statement, and a mistaken one gets SQLite's own words")
{
  QuerySite s;
  struct Row {
    const char *sql, *refusal;
  };
  for (const auto& [sql, refusal] :
       std::vector<Row>{{"SELECT 1; SELECT 2", "only one statement is allowed, and text follows the first one's semicolon"},
                        {"", "there is no statement in it. Write one SELECT"},
                        {" -- nothing\n ;", "there is no statement in it. Write one SELECT"},
                        {"SELECT ?", "it has a parameter (? or :name) without a value. Write the value itself"},
                        {"SELEC 1", "near \"SELEC\": syntax error"},
                        {"SELECT thoughput FROM runs_flat",
                         "no such column: thoughput. See the columns of a table or view with: SELECT * FROM runs_flat LIMIT 1"},
                        {"SELECT json('{')", "malformed JSON"},
                        {"SELECT length(zeroblob(1000000000))", "string or blob too big"}})
    CHECK(s.refusal(sql) == std::string("usage: query: ") + refusal);
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

TEST_CASE("a query's answer is cut at the limit of rows, and only then does it say so, and when its texts grow too large")
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
  QueryLimits few_bytes;
  few_bytes.bytes = 1000;
  const auto table =
      query(s.database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT printf('%.400c', 'x') FROM n",
            few_bytes);
  CHECK(table.truncated);
  CHECK(table.rows.size() == 3);
}
