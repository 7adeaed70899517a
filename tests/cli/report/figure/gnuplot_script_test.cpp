// Scripts and texts for gnuplot, of charts that are made up here.
//
// Regenerate the golden texts with: DTCTL_UPDATE_GOLDEN=1 build/dev/tests/test_cli '[golden]'
#include "cli/report/figure/gnuplot_script.hpp"

#include "cli/report/figure/chart_values.hpp"
#include "cli/report/figure/figure_layout.hpp"
#include "cli/report/figure/gnuplot_data.hpp"
#include "cli/report/figure/gnuplot_text.hpp"
#include "cli/report/figure/series_look.hpp"
#include "core/files/file.hpp"
#include "core/text.hpp"

#include <cstdlib>
#include <set>

#include <catch2/catch.hpp>

using Catch::Contains;
using namespace dt;
using namespace dt::cli;

namespace {

void check_golden(const std::string& name, const Chart& chart, const FigureStyle& style)
{
  const auto text = gnuplot_script(chart, style, name + ".pdf");
  const auto path = std::filesystem::path(DTCTL_SOURCE_DIR) / "tests" / "golden" / "figures" / (name + ".gp");
  if (std::getenv("DTCTL_UPDATE_GOLDEN") != nullptr) write_file_atomic(path, text, Readers::everybody);
  CHECK(text == read_file_if_exists(path).value_or("(missing)"));
}

Chart chart_of(Mark mark)
{
  Chart chart{
      .id = "chart", .title = "A title", .caption = "How to read it.", .x = {.title = "nodes"}, .y = {.title = "efficiency"}};
  chart.series.push_back({.name = "one",
                          .mark = mark,
                          .points = {{1, 1, 0.9, 1.1, "3 runs"}, {2, 0.5, not_measured, not_measured, ""}},
                          .colour = 0});
  chart.series.push_back(
      {.name = "two", .mark = mark, .origin = Origin::simulated, .points = {{1, 0.8, 0.7, 0.9, ""}}, .colour = 1});
  return chart;
}

Chart bars_of(Mark mark)
{
  auto chart = chart_of(mark);
  chart.x = {.title = "", .categories = {"a", "b", "a long name of a category, 16 ranks on 4 nodes"}};
  return chart;
}

// The values in the blocks of the data: by series, line and column.
std::vector<std::vector<std::vector<std::string>>> parsed(const std::string& data)
{
  std::vector<std::vector<std::vector<std::string>>> blocks(1);
  int empty = 0;
  for (const auto& line : split(data, '\n')) {
    empty = line.empty() ? empty + 1 : 0;
    if (empty == 2) blocks.emplace_back();
    const auto values = dt::trim(std::string_view(line).substr(0, line.find('#')));
    if (!values.empty()) blocks.back().push_back(split(values, ' '));
  }
  return blocks;
}

} // namespace

TEST_CASE("the script of a figure is as it was, for each mark", "[golden]")
{
  auto line = chart_of(Mark::line);
  line.x = {.title = "nodes", .scale = AxisScale::log2, .ticks = {1, 2, 16}};
  line.y.is_share = true;
  line.y.from_zero = true;
  check_golden("line", line, {});
  check_golden("band", chart_of(Mark::band), {.is_grey = true, .has_title = true});
  check_golden("points", chart_of(Mark::points), {.columns = 2});
  auto bar = bars_of(Mark::bar);
  bar.is_stacked = true;
  bar.is_horizontal = true;
  check_golden("bar", bar, {});
  check_golden("floating", bars_of(Mark::floating), {.columns = 2});
}

TEST_CASE("the data of a figure are the points of the chart, a block for each series")
{
  const auto blocks = parsed(gnuplot_data(chart_of(Mark::line), {}));
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0] == std::vector<std::vector<std::string>>{{"1", "1", "0.9", "1.1"}, {"2", "0.5", "NaN", "NaN"}});
  CHECK(blocks[1] == std::vector<std::vector<std::string>>{{"1", "0.8", "0.7", "0.9"}});
}

TEST_CASE("a stacked bar begins where the one below it ends")
{
  auto chart = bars_of(Mark::bar);
  chart.is_stacked = true;
  const auto blocks = parsed(gnuplot_data(chart, {}));
  CHECK(blocks[0][0] == std::vector<std::string>{"1", "1", "0.9", "1.1", "0", "1"});
  CHECK(blocks[1][0] == std::vector<std::string>{"1", "0.8", "0.7", "0.9", "1", "1.8"});
  chart.is_stacked = false;
  CHECK(parsed(gnuplot_data(chart, {}))[1][0][4] == "0");
}

TEST_CASE("a bar in a terminal is a row of letters that is as long as the bar")
{
  const auto blocks = parsed(gnuplot_data(bars_of(Mark::bar), {.format = FigureFormat::terminal, .width = 80}));
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].size() == 180); // 120 letters for the longest bar, and half as many for one of half its length
  CHECK(blocks[1].size() == 96);
}

TEST_CASE("gnuplot interprets no text as markup, in any format")
{
  for (const auto format : {FigureFormat::terminal, FigureFormat::pdf, FigureFormat::svg, FigureFormat::png})
    for (const bool is_utf8 : {false, true}) {
      const auto script = gnuplot_script(chart_of(Mark::line), {.format = format, .is_utf8 = is_utf8}, "");
      for (auto at = script.find("set terminal"); at != std::string::npos; at = script.find("set terminal", at + 1))
        CHECK(script.substr(at, script.find_first_of("\n}", at) - at).find(" noenhanced ") != std::string::npos);
    }
}

TEST_CASE("gnuplot's strings end nowhere else than at their end")
{
  CHECK(gnuplot_string("it's `x` $y @z \\ \"", FigureFormat::pdf) == "'it'.\"'\".'s `x` $y @z \\ \"'");
  CHECK(gnuplot_string("a\nb\x1b[31m", FigureFormat::svg) == "'a\\x0ab\\x1b[31m'");
  CHECK(gnuplot_string("50% {a_b} [x] ~^\\", FigureFormat::tex) ==
        "'50\\char37{} \\{a\\_b\\} \\lbrack{}x\\rbrack{} \\textasciitilde{}\\textasciicircum{}\\textbackslash{}'");
  CHECK(gnuplot_tick_label("50%\n'x'", FigureFormat::pdf) == "'50%%'.\"\\n\".\"'\".'x'.\"'\"");
  CHECK(gnuplot_comment("ends in \\") == "ends in \\.");
}

TEST_CASE("long texts are broken, and cut where they are still too long")
{
  CHECK(in_lines("short", 10, 2) == "short");
  CHECK(in_lines("throughput relative to the point [%]", 30, 2) == "throughput relative\nto the point [%]");
  CHECK(in_lines("sync-sgd, 4 ranks", 10, 2) == "sync-sgd,\n4 ranks");
  CHECK(in_lines("abcdefghijklmnop", 7, 2) == "abc…nop");
}

TEST_CASE("series of an origin differ in mark, dash and fill, and origins differ too")
{
  const auto look = [](Origin origin, int colour, bool grey) {
    return look_of({.name = "", .origin = origin, .points = {}, .colour = colour}, {.is_grey = grey});
  };
  for (const bool grey : {false, true}) {
    std::set<int> marks;
    std::set<std::string> dashes, colours;
    for (int colour = 0; colour < palette_size; ++colour) {
      marks.insert(look(Origin::measured, colour, grey).point);
      colours.insert(look(Origin::measured, colour, grey).colour);
      dashes.insert(look(Origin::simulated, colour, grey).dash);
      CHECK(look(Origin::measured, colour, grey).dash == "solid");
    }
    CHECK(marks.size() == palette_size);
    CHECK(dashes.size() == palette_size);
    CHECK(colours.size() == palette_size);
  }
  CHECK(look(Origin::simulated, 0, false).point != look(Origin::measured, 0, false).point);
  CHECK(look(Origin::simulated, 0, false).fill != look(Origin::measured, 0, false).fill);
  CHECK(look(Origin::predicted, 0, false).dash != look(Origin::simulated, 0, false).dash);
}

TEST_CASE("a label of a tick is left out where it would touch its neighbour")
{
  const Axis axis{.title = "", .ticks = {1, 62, 63, 64}};
  CHECK(labelled_ticks(axis, 1, 64, {}) == std::vector<bool>{true, false, false, true});
  const Axis doubling{.title = "", .scale = AxisScale::log2, .ticks = {1, 2, 4, 8, 16}};
  CHECK(labelled_ticks(doubling, 1, 16, {}) == std::vector<bool>(5, true));
}

TEST_CASE("names in a legend stay different when they are cut")
{
  Chart chart;
  for (const auto* end :
       {"overlap=1 allreduce=ring with much more behind it", "overlap=2 allreduce=ring with much more behind it"})
    chart.series.push_back({.name = std::string("strategy=sync-easgd ") + end, .points = {{1, 1}}});
  const auto layout = layout_of(chart, {.format = FigureFormat::terminal, .width = 40});
  CHECK(layout.names[0] != layout.names[1]);
  CHECK(display_width(layout.names[0]) < 34);
}

TEST_CASE("a label with a percent sign is short enough for gnuplot, which cuts it after 49 bytes")
{
  auto chart = bars_of(Mark::bar);
  chart.x.categories.back() = "overlap=50% of the buckets, with an allreduce of a long name";
  for (const auto format : {FigureFormat::pdf, FigureFormat::tex})
    CHECK(layout_of(chart, {.format = format, .columns = 2}).categories.back().size() < 50);
}

TEST_CASE("the values of a chart are written as CSV, with what is missing left out")
{
  const std::vector<Chart> charts{bars_of(Mark::bar)};
  const auto csv = csv_of(charts);
  CHECK_THAT(csv, Catch::StartsWith("chart,label,series,origin,mark,x,category,y,low,high,note\r\n"
                                    "chart,,one,measured,bar,1,b,1,0.9,1.1,3 runs\r\n"));
  CHECK_THAT(csv, Contains("chart,,one,measured,bar,2,\"a long name of a category, 16 ranks on 4 nodes\",0.5,,,\r\n"));
}
