#include "store/ingest/rows.hpp"
#include "tests/store/fixture.hpp"

#include <map>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

TEST_CASE("every identity key of the schema table has a column of its type in runs and in runs_flat")
{
  auto [site, database] = Opened{};
  const auto types = [&](const std::string& table) {
    std::map<std::string, std::string> found;
    auto statement = database.impl().connection.statement("SELECT name, type FROM pragma_table_info(?)");
    statement.bind(table);
    while (statement.next()) found[statement.text(0)] = statement.text(1);
    return found;
  };
  const auto runs = types("runs"), flat = types("runs_flat");
  const auto type_of = [](KeyType type) -> std::string {
    using enum KeyType;
    if (type == integer || type == boolean || type == duration) return "INTEGER";
    return type == real || type == rate || type == moment ? "REAL" : "TEXT";
  };
  for (const auto& key : spec_keys()) {
    if (!key.identity) continue;
    INFO(key.path);
    for (const auto& found : {runs, flat}) {
      REQUIRE(found.count(column_of(key)) == 1);
      CHECK(found.at(column_of(key)) == type_of(key.type));
    }
  }
}

TEST_CASE("every parameter of a run is stored as it was resolved")
{
  auto [site, database] = Opened{};
  auto spec = sample_spec(3);
  spec.train.epochs = 0.5;
  spec.data.shuffle = false;
  spec.resources.launcher_args = {"--bind-to", "a b"};
  spec.resources.env = {{"X", "1"}, {"Y", "it's"}};
  const auto run = site.plan(spec);
  site.ingest(database, {run});
  for (const auto* key : column_keys()) {
    INFO(key->path);
    const auto table = ask(database, "SELECT " + column_of(*key) + " FROM runs");
    CHECK(table.rows.at(0).at(0) == cell_of(value_of(spec, *key)));
  }
  CHECK(ask_text(database, "SELECT resources_launcher_args FROM runs") == "[\"--bind-to\",\"a b\"]");
  CHECK(ask_text(database, "SELECT json_extract(resources_env, '$.Y') FROM runs") == "it's");
  CHECK(ask_text(database, "SELECT ranks || ' ' || cores || ' ' || global_batch || ' ' || batch_per_rank FROM runs") ==
        "3 3 64 21");
}

TEST_CASE("a run's label is read from its name in the study, and a control's is that of what it repeats")
{
  CHECK(label_in_name("quick/ranks=2/#0", "quick") == "ranks=2");
  CHECK(label_in_name("quick/data.path=/a/#b ranks=2/#10", "quick") == "data.path=/a/#b ranks=2");
  CHECK(label_in_name("quick/seed=1 ranks=2", "quick") == "seed=1 ranks=2");
  CHECK(label_in_name("quick/data.path=/a/#b", "quick") == "data.path=/a/#b");
  CHECK(label_in_name("quick/#0", "quick") == "");
  CHECK(label_in_name("quick", "quick") == "");
  CHECK(label_in_name("other/x/#0", "quick") == "");
  CHECK(label_in_name("n/seed=1 nodes=1/control #2", "n") == "seed=1 nodes=1");
  CHECK(label_in_name("n/control #2", "n") == "");
}
