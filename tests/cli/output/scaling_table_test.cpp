#include "cli/output/answers/scaling_table.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace dt;
using namespace dt::cli;

namespace {

store::ScalingRow row_of(const std::string& label, std::int64_t size)
{
  store::ScalingRow row;
  row.label = label;
  row.size = row.ranks = row.workers = size;
  row.baseline_size = 1;
  row.speedup = 1;
  row.efficiency = row.efficiency_per_process = 1;
  return row;
}

const Cell& cell_of(const Table& table, std::size_t row, std::string_view column)
{
  const auto found = std::ranges::find(table.columns, column, &Column::name);
  REQUIRE(found != table.columns.end());
  return table.rows.at(row).at(static_cast<std::size_t>(found - table.columns.begin()));
}

} // namespace

TEST_CASE("a label with one size has no speed-up and no efficiency in the table, for it would be compared with itself")
{
  const auto table = scaling_table({row_of("easgd", 3), row_of("sync-sgd", 1), row_of("sync-sgd", 2)}, {});
  for (const auto* column : {"speedup", "efficiency", "efficiency_per_process"}) {
    CHECK(cell_of(table, 0, column).text == "-");
    CHECK(cell_of(table, 1, column).text != "-");
  }
  CHECK(cell_of(table, 1, "speedup").text == "1.00x");
}
