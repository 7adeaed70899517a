// What docs/database.md says about the database is true of it.
#include "tests/store/fixture.hpp"

#include "store/database/sqlite.hpp"
#include "store/query/columns.hpp"

#include <map>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

std::string document() { return read_file(std::filesystem::path(DTCTL_SOURCE_DIR) / "docs" / "database.md"); }

std::vector<std::string> examples(const std::string& text)
{
  std::vector<std::string> found;
  const std::string fence = "```sql\n";
  for (auto begin = text.find(fence); begin != std::string::npos; begin = text.find(fence, begin)) {
    begin += fence.size();
    found.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return found;
}

} // namespace

TEST_CASE("every example query of the database's document runs on a database with a study")
{
  auto [site, database] = Opened{};
  std::vector<PlannedRun> runs;
  for (const std::int64_t ranks : {1, 2})
    for (std::int64_t repeat = 0; repeat < 2; ++repeat)
      runs.push_back(site.run_well(sample_spec(ranks, repeat), 100 * static_cast<double>(ranks + repeat)));
  site.take_in(database, runs, "strong", 1700000000, "quickstart");
  const auto queries = examples(document());
  CHECK(queries.size() >= 8);
  for (const auto& sql : queries) {
    INFO(sql);
    CHECK_NOTHROW(ask(database, sql));
  }
  CHECK(ask(database, queries.at(0)).rows.size() == 2);
}

TEST_CASE("the described columns are those of the views and tables, in their order and with their types")
{
  auto [site, database] = Opened{};
  std::map<std::string, std::vector<std::string>> described;
  for (const auto& info : describe_columns()) {
    INFO(info.table << "." << info.column);
    CHECK_FALSE(info.help.empty());
    described[info.table].push_back(info.column);
  }
  CHECK(described.size() == 4);
  for (const auto& [table, columns] : described) {
    INFO(table << ": store/query/columns.cpp describes the columns that come from no table of fields or keys");
    auto listed = database.impl().connection.statement("SELECT name FROM pragma_table_info('" + table + "')");
    std::vector<std::string> names;
    while (listed.next()) names.push_back(listed.text(0));
    CHECK(columns == names);
  }
}

TEST_CASE("the database's document names every table and view, and nothing else")
{
  auto [site, database] = Opened{};
  const auto text = document();
  auto names = database.impl().connection.statement("SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view')");
  while (names.next()) {
    const auto entry = names.text(1) == "table" ? "| `" + names.text(0) + "` |" : "**`" + names.text(0) + "`**:";
    INFO(entry);
    CHECK(text.find(entry) != std::string::npos);
  }
  const auto entries = [&](const std::string& start) {
    int count = 0;
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) ++count;
    return std::to_string(count);
  };
  CHECK(ask_text(database, "SELECT count(*) FROM sqlite_schema WHERE type = 'view'") == entries("\n**`"));
}
