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

} // namespace

TEST_CASE("there is colour on a terminal, and none with NO_COLOR, on a dumb terminal or in a pipe")
{
  const Dtctl dtctl;
  CHECK(dtctl.in_terminal({"models"}, 100).find(escape) != std::string::npos);
  CHECK(dtctl.in_terminal({"models"}, 100, {"NO_COLOR=1"}).find(escape) == std::string::npos);
  CHECK(dtctl.in_terminal({"models"}, 100, {"TERM=dumb"}).find(escape) == std::string::npos);
  CHECK(dtctl.run({"models"}).out.find(escape) == std::string::npos);
}

TEST_CASE("tables fit the terminal's width")
{
  const Dtctl dtctl;
  for (const unsigned short columns : {std::uint16_t{40}, std::uint16_t{60}, std::uint16_t{80}, std::uint16_t{120}}) {
    const auto text = dtctl.in_terminal({"recipe", "schema"}, columns, {"NO_COLOR=1"});
    INFO(columns << " columns\n" << text);
    CHECK(widest_line(text) <= columns);
    CHECK(text.find("train.seed") != std::string::npos);
  }
}

TEST_CASE("COLUMNS is stronger than the terminal, also in a pipe")
{
  const Dtctl dtctl;
  CHECK(widest_line(dtctl.run({"recipe", "schema"}, {"COLUMNS=50"}).out) <= 50);
  CHECK(widest_line(dtctl.in_terminal({"recipe", "schema"}, 120, {"COLUMNS=50", "NO_COLOR=1"})) <= 50);
}

TEST_CASE("a pipe gets whole texts") { CHECK(Dtctl().run({"models"}).out.find("other shapes too\n") != std::string::npos); }

TEST_CASE("help fits narrow terminals") { CHECK(widest_line(Dtctl().in_terminal({"models", "--help"}, 50)) <= 50); }
