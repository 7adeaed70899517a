#include "cli/output/layout.hpp"

#include "core/text.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt;
using namespace dt::cli;

namespace {

std::string plain(std::string_view text, Style) { return std::string(text); }

Table two_columns()
{
  return {"runs",
          {{"name", "run"}, {"ranks", "ranks", Align::right}},
          {{text_cell("tiny"), count_cell(1)}, {text_cell("größer"), count_cell(16)}},
          "none"};
}

std::size_t widest_line(const std::string& text)
{
  std::size_t widest = 0;
  for (const auto& line : split(text, '\n')) widest = std::max(widest, display_width(line));
  return widest;
}

} // namespace

TEST_CASE("a table's columns are as wide as their widest text, numbers to the right, no blanks at line ends")
{
  CHECK(layout(two_columns(), 0, plain) == "run     ranks\n"
                                           "tiny        1\n"
                                           "größer     16\n");
}

TEST_CASE("a column without a title is for programs only, an empty table says so, and a text is one line that obeys nothing")
{
  auto table = two_columns();
  table.columns[0].title.clear();
  CHECK(layout(table, 0, plain) == "ranks\n    1\n   16\n");
  CHECK(cli::to_json(table).dump() == R"([{"name":"tiny","ranks":1},{"name":"größer","ranks":16}])");
  table.rows.clear();
  CHECK(layout(table, 0, plain) == "none\n");
  const Table texts{"t", {{"a", "a"}}, {{text_cell("\033[31mred\a")}, {text_cell("SELECT\n  name\n")}}, ""};
  CHECK(layout(texts, 0, plain) == "a\n\\x1b[31mred\\x07\nSELECT name \n");
}

TEST_CASE("on a narrow terminal the columns with the highest drop number leave first")
{
  Table table{"t",
              {{"a", "aaaa"}, {"b", "bbbb", Align::right, 2}, {"c", "cccc", Align::right, 1}},
              {{text_cell("1"), text_cell("2"), text_cell("3")}},
              ""};
  CHECK(layout(table, 16, plain) == "aaaa  bbbb  cccc\n1        2     3\n");
  CHECK(layout(table, 15, plain) == "aaaa  cccc\n1        3\n(left out:\n bbbb)\n");
  CHECK(layout(table, 9, plain) == "aaaa\n1\n(left\n out:\n bbbb,\n cccc)\n");
}

TEST_CASE("long words are cut before columns leave")
{
  Table table{"t", {{"a", "a"}, {"b", "b", Align::right, 1}}, {{text_cell(std::string(60, 'x')), text_cell("7")}}, ""};
  CHECK(layout(table, 33, plain) == "a" + std::string(31, ' ') + "b\n" + std::string(29, 'x') + "…  7\n");
}

TEST_CASE("a narrow table keeps what differs between rows, and says which columns are empty or the same everywhere")
{
  Table table{
      "t",
      {{"a", "run"}, {"b", "state"}, {"c", "nodes", Align::right}, {"d", "loss", Align::right}},
      {{text_cell("study/strategy=decentralized-easgd period=1"), text_cell("succeeded"), count_cell(4), real_cell(std::nan(""))},
       {text_cell("study/strategy=decentralized-easgd period=16"), text_cell("succeeded"), count_cell(8),
        real_cell(std::nan(""))}},
      ""};
  CHECK(layout(table, 50, plain) ==
        "run         state      nodes\n…period=1   succeeded      4\n…period=16  succeeded      8\n(empty: loss)\n");
  CHECK(layout(table, 20, plain) ==
        "run         nodes\n…period=1       4\n…period=16      8\n(in every row:\n state succeeded;\n empty: loss)\n");
}

TEST_CASE("texts that differ in their ends only are cut in their middle")
{
  Table table{"t",
              {{"a", "a"}},
              {{text_cell("abcdefghijklmnopqrstuvwxyz-1")},
               {text_cell("bbcdefghijklmnopqrstuvwxyz-1")},
               {text_cell("abcdefghijklmnopqrstuvwxyz-2")}},
              ""};
  CHECK(layout(table, 9, plain) == "a\nabcd…yz-1\nbbcd…yz-1\nabcd…yz-2\n");
  CHECK(fit_middle("größer", 5) == "gr…er");
}

TEST_CASE("no table is wider than the terminal")
{
  Table table{"t",
              {{"a", "name"}, {"b", "cause", Align::left, 1}, {"c", "n", Align::right}},
              {{text_cell(std::string(80, 'y')), text_cell(std::string(200, 'z')), count_cell(12345)}},
              ""};
  for (std::size_t width = 16; width < 200; ++width) {
    INFO("width " << width);
    CHECK(widest_line(layout(table, width, plain)) <= width);
  }
}

TEST_CASE("cutting a text counts characters, not bytes")
{
  CHECK(fit("größer", 6) == "größer");
  CHECK(fit("größer", 5) == "größ…");
  CHECK(fit("größer", 1) == "…");
  CHECK(fit("größer", 0) == "");
}

TEST_CASE("a paragraph is wrapped at words and indented from its second line on, and a command stays on one line, so that it can "
          "be copied")
{
  CHECK(wrap("one two three four", 12, 3) == "one two\n   three\n   four");
  CHECK(wrap("one two three four", 0, 3) == "one two three four");
  CHECK(wrap("incompressible", 4, 2) == "incompressible");
  CHECK(wrap("see what dtctl explain last --failed, or wait", 30, 2) == "see what\n  dtctl explain last --failed,\n  or wait");
  CHECK(wrap("Every run: dtctl cancel all. Then go on.", 24, 0) == "Every run:\ndtctl cancel all. Then\ngo on.");
  CHECK(wrap("a (dtctl db rebuild) b", 20, 0) == "a (dtctl db rebuild)\nb");
  CHECK(wrap("dtctl submit r --set a=1 --set b=2", 12, 0) == "dtctl submit\nr --set a=1\n--set b=2");
  CHECK(wrap("the end of dtctl", 12, 0) == "the end of\ndtctl");
}
