#include "core/program/pattern.hpp"

#include "tests/core/error_of.hpp"

#include <chrono>
#include <cmath>

#include <catch2/catch.hpp>

using dt::Pattern;

TEST_CASE("an expression finds the number in its group, and says whether it has one")
{
  CHECK(Pattern("loss (\\d+\\.\\d+)").number_in("step 3 loss 0.25 ok") == 0.25);
  CHECK(Pattern("acc=([-+0-9.e]+)").number_in("acc=9.5e-1,") == 0.95);
  CHECK_FALSE(Pattern("^[0-9]+$").has_group());
  CHECK_FALSE(Pattern("^[0-9]+$").number_in("17"));
  CHECK(Pattern("loss ([^ ]+)").number_in("loss +3") == 3);
  CHECK(std::isnan(*Pattern("loss ([^ ]+)").number_in("loss nan")));
}

TEST_CASE("a line that does not match, or whose match is no number, has no number")
{
  CHECK_FALSE(Pattern("loss ([0-9.]+)").number_in("lost 3"));
  CHECK_FALSE(Pattern("loss (.+)").number_in("loss three"));
  CHECK_FALSE(Pattern("loss ([0-9.]+)").number_in("loss 1.2.3"));
}

TEST_CASE("a wrong expression is refused with the reason")
{
  const auto error_of = [](const char* text) { return dt::test::message_of([&] { Pattern{text}; }); };
  CHECK(error_of("(a") == "Unmatched ( or \\(");
  CHECK(error_of("") == "it is empty");
  CHECK(error_of("(a)\\1") == "back references such as `\\1` are not supported");
  CHECK(error_of("(?:a)") == "groups that begin with `(?` are not supported: expressions are POSIX extended regular expressions");
  CHECK(error_of("(a)(b)") == "it has 2 groups in parentheses; put only the number in parentheses");
}

TEST_CASE("no expression and no line take long: what makes other matchers backtrack is matched in one pass")
{
  const std::string line(20'000, 'a');
  CHECK_FALSE(Pattern("(a+)+b").number_in(line));
  CHECK_FALSE(Pattern("(a|a)*c").is_in(line));
}
