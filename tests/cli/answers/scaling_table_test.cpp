#include "cli/answers/scaling_table.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace dt;
using namespace dt::cli;

namespace {

const Cell& cell_of(const Table& table, std::size_t row, std::string_view column)
{
  const auto found = std::ranges::find(table.columns, column, &Column::name);
  REQUIRE(found != table.columns.end());
  return table.rows.at(row).at(static_cast<std::size_t>(found - table.columns.begin()));
}

} // namespace

TEST_CASE("a label with one size has no speed-up and no efficiency in the table, for it would be compared with itself")
{
  std::vector<store::Run> runs;
  for (const auto& [label, workers] : {std::pair{"easgd", 3}, {"sync-sgd", 1}, {"sync-sgd", 2}})
    runs.push_back(
        {.series = label, .nodes = 1, .ranks = workers, .workers = workers, .succeeded = true, .throughput = 100.0 * workers});
  const auto table = scaling_table(store::scaling_of(runs, store::StudySizes::grow), {});
  for (const auto* column : {"speedup", "efficiency", "efficiency_per_process"}) {
    CHECK(cell_of(table, 0, column).text == "-");
    CHECK(cell_of(table, 1, column).text != "-");
  }
  CHECK(cell_of(table, 1, "speedup").text == "1.00x");
}

TEST_CASE("a table of points has no two columns of one name, also if a swept key is called as a column")
{
  store::ScalingRow a, b;
  a.label = "ranks=1 runs=3";
  b.label = "ranks=2 runs=4";
  std::set<std::string> members, heads;
  for (const auto& column : scaling_table({a, b}, store::PointLabels({a.label, b.label})).columns) {
    CAPTURE(column.name, column.title);
    if (!column.name.empty()) CHECK(members.insert(column.name).second);
    CHECK(heads.insert(column.title.empty() ? column.name : column.title).second); // as pages head them
  }
}

TEST_CASE("where a run failed, the column `runs` shows how many of them succeeded")
{
  store::ScalingRow row;
  row.runs = 3;
  row.succeeded = 2;
  const auto table = scaling_table({row}, {});
  CHECK(cell_of(table, 0, "runs").text == "2/3");
  CHECK(cell_of(table, 0, "runs").value == 3);
  CHECK(cell_of(table, 0, "runs_succeeded").value == 2);
}
