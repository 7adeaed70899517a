// What people see on a terminal.
#include "core/text.hpp"
#include "tests/cli/driver.hpp"

#include <algorithm>
#include <cstdint>

#include <catch2/catch.hpp>

using dt::test::Dtctl;

namespace {

constexpr const char* escape = "\033[";

std::size_t widest_line(const std::string& text)
{
  std::size_t widest = 0;
  for (const auto& line : dt::split(text, '\n')) widest = std::max(widest, dt::display_width(line));
  return widest;
}

// Without the terminal's control sequences.
std::string without_escapes(std::string text)
{
  for (auto at = text.find(escape); at != std::string::npos; at = text.find(escape))
    text.erase(at, text.find_first_not_of("0123456789;", at + 2) - at + 1);
  return text;
}

} // namespace

TEST_CASE(
    "there is colour on a terminal and none in a pipe, unless a variable forces or forbids it, and NO_COLOR is the strongest")
{
  const Dtctl dtctl;
  struct Row {
    dt::test::Words environment;
    bool in_terminal, in_pipe;
  };
  for (const auto& row :
       {Row{{}, true, false}, Row{{"NO_COLOR=1"}, false, false}, Row{{"TERM=dumb"}, false, false},
        Row{{"FORCE_COLOR=1"}, true, true}, Row{{"CLICOLOR_FORCE=1"}, true, true}, Row{{"FORCE_COLOR=0"}, true, false},
        Row{{"FORCE_COLOR="}, true, false}, Row{{"FORCE_COLOR=1", "NO_COLOR=1"}, false, false}, Row{{"CLICOLOR=0"}, false, false},
        Row{{"CLICOLOR=0", "FORCE_COLOR=1"}, true, true}}) {
    INFO(dt::join(row.environment, " "));
    CHECK((dtctl.in_terminal({"recipe", "models"}, 100, row.environment).find(escape) != std::string::npos) == row.in_terminal);
    CHECK((dtctl.run({"recipe", "models"}, row.environment).out.find(escape) != std::string::npos) == row.in_pipe);
  }
}

TEST_CASE("tables fit the terminal's width, COLUMNS is stronger, also in a pipe, and a pipe without it gets whole texts")
{
  const Dtctl dtctl;
  CHECK(widest_line(dtctl.run({"recipe", "schema"}, {"COLUMNS=50"}).out) <= 50);
  CHECK(widest_line(dtctl.in_terminal({"recipe", "schema"}, 120, {"COLUMNS=50", "NO_COLOR=1"})) <= 50);
  CHECK(dtctl.run({"recipe", "models"}).out.find("other shapes too\n") != std::string::npos);
  for (const unsigned short columns : {std::uint16_t{40}, std::uint16_t{60}, std::uint16_t{80}, std::uint16_t{120}}) {
    const auto text = dtctl.in_terminal({"recipe", "schema"}, columns, {"NO_COLOR=1"});
    INFO(columns << " columns\n" << text);
    CHECK(widest_line(text) <= columns);
    CHECK(text.find("train.seed") != std::string::npos);
  }
}

TEST_CASE("watch draws anew, and no wider, when its terminal becomes narrower")
{
  const Dtctl dtctl;
  dtctl.write("tiny.yaml", dt::test::tiny_recipe("resources: {setup: [sleep 1000]}\nsweep: {matrix: {train.seed: [1, 2, 3]}}\n"));
  REQUIRE(dtctl.run({"sweep", "tiny.yaml"}).exit_code == 0);
  dt::test::TerminalSession watch(dtctl, {"status", "--follow"}, 110);
  REQUIRE(watch.read_until("seed=3"));
  watch.resize(60);
  const std::string clear = "\033[H\033[2J";
  REQUIRE(watch.read_until(clear));
  REQUIRE(watch.read_until("\033[J")); // the next drawing begins
  const auto after = watch.text().substr(watch.text().find(clear) + clear.size());
  INFO(after);
  for (const auto& line : dt::split(after.substr(0, after.rfind('\n')), '\n'))
    CHECK(dt::display_width(without_escapes(line)) <= 60);
  dtctl.run({"cancel", "all"});
}

TEST_CASE("help fits narrow terminals") { CHECK(widest_line(Dtctl().in_terminal({"recipe", "models", "--help"}, 50)) <= 50); }
