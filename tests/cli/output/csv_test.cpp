#include "cli/output/number_text.hpp"
#include "cli/output/store_tables.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace dt;
using namespace dt::cli;

TEST_CASE("a text that a spreadsheet would execute stands behind an apostrophe, and a number stays a number")
{
  CHECK(csv_line({"=1+1", "+SUM(A1)", "-cmd|' /C calc'!A0", "@x", "\tx", "\rx"}) ==
        "'=1+1,'+SUM(A1),'-cmd|' /C calc'!A0,'@x,'\tx,\"'\rx\"\r\n");
  CHECK(csv_line({"=\"a\",b"}) == "\"'=\"\"a\"\",b\"\r\n");
  CHECK(csv_line({"-3.5", "+2", "-1e-05", "-inf", "-nan", "a=b", " =x"}) == "-3.5,+2,-1e-05,-inf,-nan,a=b, =x\r\n");
  CHECK(csv_line({"-", "--lr", "-3.5x"}) == "'-,'--lr,'-3.5x\r\n");
  CHECK(csv_line({"a", "b,c", "say \"x\"", "two\nlines", ""}) == "a,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\",\r\n");
}

TEST_CASE("CSV keeps every digit of a number and leaves NULL empty")
{
  const store::Table table{{"x", "n", "t", "none"}, {{0.1 + 0.2, std::int64_t{7}, std::string("a"), std::monostate{}}}};
  CHECK(csv_of(table) == "x,n,t,none\r\n0.30000000000000004,7,a,\r\n");
}

TEST_CASE("JSON has null where nothing was measured")
{
  CHECK(cell_of(store::Cell{std::monostate{}}).value.is_null());
  CHECK(cell_of(store::Cell{std::numeric_limits<double>::quiet_NaN()}).value.is_null());
  CHECK(percent_cell(std::numeric_limits<double>::quiet_NaN()).value.is_null());
  CHECK(percent_cell(0.915).text == "91.5 %");
  CHECK(percent_cell(-0.0001).text == "0.0 %");
  CHECK(percent_change(-0.0001) == "+0.0 %");
  CHECK(percent_change(-0.012) == "-1.2 %");
}

TEST_CASE("columns of numbers stand to the right")
{
  const store::Table table{{"n", "t", "mixed"},
                           {{std::int64_t{1}, std::string("a"), 1.5}, {std::monostate{}, std::string("b"), std::string("c")}}};
  const auto shown = table_of("rows", table);
  CHECK(member_name("Phases by rank") == "phases_by_rank");
  CHECK(shown.columns[0].align == Align::right);
  CHECK(shown.columns[1].align == Align::left);
  CHECK(shown.columns[2].align == Align::left);
}

TEST_CASE("a value that is a map is shown by its names, at every depth")
{
  using Members = std::vector<std::pair<std::string, std::string>>;
  CHECK(members_of("facts", R"({"a": 1, "b": {"c": "x"}})") == Members{{"facts.a", "1"}, {"facts.b.c", "x"}});
  CHECK(members_of("facts", R"({"a": "{\"c\": 2}"})") == Members{{"facts.a.c", "2"}}); // a text that holds a map
  CHECK(members_of("name", "{not JSON") == Members{{"name", "{not JSON"}});
  CHECK(without_json(R"({"a": 1, "b": {"c": "x"}})") == "a: 1, b.c: x");
  CHECK(without_json("plain {text}") == "plain {text}");
}
