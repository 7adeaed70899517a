#include "core/program/pattern.hpp"

#include "tests/core/error_of.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using dt::Found;
using dt::Pattern;
using Kind = dt::Found::Kind;

namespace {

// The value that the expression finds; nothing if it finds none, or a text of which it refuses the value.
std::optional<double> number_in(const char* expression, const char* line)
{
  const auto found = Pattern(expression).find(line);
  return found && found->kind == Kind::number ? std::optional<double>(found->value) : std::nullopt;
}

// "6.32 of 6.32e-08" for a number that goes on outside of the group.
std::string cut_in(const char* expression, const char* line)
{
  const auto found = Pattern(expression).find(line);
  REQUIRE(found);
  return found->kind == Kind::cut ? found->text + " of " + found->whole : "whole: " + found->text;
}

} // namespace

TEST_CASE("an expression finds the number in its group, and says whether it has one")
{
  CHECK(number_in("loss (\\d+\\.\\d+)", "step 3 loss 0.25 ok") == 0.25);
  CHECK(number_in("acc=([-+0-9.e]+)", "acc=9.5e-1,") == 0.95);
  CHECK_FALSE(Pattern("^[0-9]+$").has_group());
  CHECK_FALSE(number_in("^[0-9]+$", "17"));
  CHECK(number_in("loss ([^ ]+)", "loss +3") == 3);
  CHECK(std::isnan(number_in("loss ([^ ]+)", "loss nan").value_or(0)));
  CHECK(number_in("loss (\\S+)", "loss 12,640, more") == 12640);
  CHECK(number_in("loss (\\S+)", "loss 0.98.") == 0.98);
  CHECK(number_in("accuracy (\\S+)", "accuracy 98.2%") == 98.2);
  CHECK(number_in("accuracy (\\S+)", "(accuracy 98.2%).") == 98.2);
  CHECK(number_in("loss=(\\S+)", "[00:01, loss=0.5]") == 0.5);
  CHECK(number_in("loss=(\\S+)", "[00:01, loss=1e-05]") == 1e-05);
  CHECK(number_in("'loss': (\\S+)", "{'loss': 0.5}") == 0.5);
  CHECK(std::isnan(number_in("loss=(\\S+)", "[00:01, loss=nan]").value_or(0)));
}

TEST_CASE("the idioms of Python's expressions mean what they mean there")
{
  CHECK(number_in("loss.*?([0-9.]+)", "step: loss = 2.0000  lr = 0.1") == 2);
  CHECK(number_in("loss[ =]+([\\d.]+)", "loss = 0.25") == 0.25);
  CHECK(number_in("loss\\t(\\d+)", "loss\t7") == 7);
  CHECK(number_in("loss\\D+(\\d+)", "loss is 7") == 7);
  CHECK(number_in("(?:loss|cost) (?P<value>[\\d.]+)", "cost 0.5") == 0.5);
  CHECK(number_in("(?i)LOSS (\\S+)", "loss 0.5") == 0.5);
  CHECK(number_in("[[:alpha:]]+ ([[:digit:]]+)", "loss 5") == 5);
  CHECK(number_in("\\bacc(?:uracy)?\\b\\W+(\\d{1,2}\\.\\d*)", "accuracy: 97.5") == 97.5);
}

TEST_CASE("a number that goes on outside of the group has no value, and both are told")
{
  CHECK(cut_in("loss ([0-9.]+)", "loss 6.32e-08") == "6.32 of 6.32e-08");
  CHECK(cut_in("throughput: ([0-9.]+)", "throughput: 1.23e+05 samples/s") == "1.23 of 1.23e+05");
  CHECK(cut_in("([0-9]+) images", "12,640 images") == "640 of 12,640");
  CHECK(cut_in("([0-9.]+) img/s", "1,234.5 img/s") == "234.5 of 1,234.5");
  CHECK(cut_in("loss -?([0-9.]+)", "loss -0.5") == "0.5 of -0.5");
  CHECK(cut_in("loss.*([0-9.]+)", "loss 0.532") == "2 of 0.532");
  CHECK(cut_in("loss ([0-9]+)\\.", "loss 3.75") == "3 of 3.75");
  CHECK(cut_in("loss (\\d\\.\\d\\d)", "loss 0.123") == "0.12 of 0.123");
}

TEST_CASE("a unit behind the number may stand in the group, which finds the number")
{
  for (const char* line : {"dt: 50.2ms", "dt: 50.2 ms", "dt: 50.2ms,", "dt: 50.2 [ms]"}) {
    INFO(line);
    const auto found = Pattern("dt: (.+)").find(line);
    REQUIRE(found);
    CHECK(found->value == 50.2);
    CHECK(found->before == "dt: ");
    CHECK(found->behind.find("ms") != std::string::npos);
  }
  CHECK(Pattern("rate (\\S+)").find("rate 1.2k img/s")->behind == "k img/s");
  CHECK(Pattern("(\\S+) of").find("2nd of")->kind == Kind::text);
}

TEST_CASE("a comma that stands in the expression beside the group divides two numbers")
{
  CHECK(number_in("^(\\d+),", "12,640,0.5") == 12);
  CHECK(number_in("^\\d+,(\\d+),", "12,640,0.5") == 640);
  CHECK(number_in("^\\d+,\\d+,\\s*(\\S+)", "12,640,0.5") == 0.5);
  CHECK(cut_in("^(\\d+)", "12,640,0.5") == "12 of 12,640,0.5");
  CHECK(cut_in("^(\\d+),?", "12,640,0.5") == "12 of 12,640,0.5");
  CHECK(number_in("^(?:[^,]*,){2}([^,]+)", "1,100,0.5") == 0.5);
  CHECK(cut_in("loss ([0-9.]+),", "loss 1,234.5, 640 images") == "1 of 1,234.5"); // one number, whatever the expression says
  CHECK(cut_in("images ([^,]+)", "images 12,640") == "12 of 12,640");
  CHECK(number_in("step_(\\d+)_", "step_10_200.pt") == 10);
}

TEST_CASE("an expression for digits finds that the program has printed nan or inf")
{
  CHECK(std::isnan(number_in("loss ([0-9.]+)", "step 10: loss nan, 640 images").value_or(0)));
  CHECK(std::isnan(number_in("loss.*?([0-9.]+)", "loss = NaN  lr = 0.1").value_or(0))); // not 0.1
  CHECK(std::isnan(number_in("loss (\\d+\\.\\d{4})", "loss nan").value_or(0)));
  CHECK(number_in("loss ([0-9.]+)", "loss -inf") == -HUGE_VAL);
  CHECK(number_in("loss ([0-9]+)", "loss Infinity") == HUGE_VAL);
  CHECK(number_in("lr ([0-9.]+)", "loss nan lr 0.1") == 0.1);
  CHECK_FALSE(number_in("loss ([0-9.]+)", "loss nano"));
}

TEST_CASE("a line that does not match has no number, and what is found instead of a number is told")
{
  CHECK_FALSE(Pattern("loss ([0-9.]+)").find("lost 3"));
  CHECK(Pattern("loss (.+)").find("loss three")->kind == Kind::text);
  CHECK(Pattern("loss ([0-9.]+)").find("loss 1.2.3")->kind == Kind::unreadable);
  CHECK(Pattern("loss (\\S+)").find("loss 0,532")->kind == Kind::unreadable);
  CHECK(Pattern("loss (\\S+)").find("loss 1e400")->kind == Kind::unreadable);
  CHECK(Pattern("acc ([0-9.]+)").find("acc 98.20 % of all")->behind == " % of all");
}

TEST_CASE("a wrong expression is refused with the reason")
{
  struct Row {
    const char *expression, *refusal;
  };
  for (const auto& [expression, refusal] : std::vector<Row>{
           {"(a", "missing ): (a"},
           {"", "it is empty"},
           {"(a)\\1", "back references such as `\\1` are not supported"},
           {"(?P<x>a)(?P=x)", "back references, `(?P=`, are not supported"},
           {"loss (?=[0-9])(.)", "look-ahead, `(?=`, is not supported"},
           {"(?<=loss )([0-9.]+)", "look-behind, `(?<=`, is not supported"},
           {"(?<!val_)loss ([0-9.]+)", "negative look-behind, `(?<!`, is not supported"},
           {"(?<x>a)", "write `(?P<name>"},
           {"(a)(b)", "it has 2 groups in parentheses; put only the number in parentheses, and write `(?:` for the others"}})
    CHECK_THROWS_WITH(Pattern(expression), Catch::Contains(refusal));
  CHECK_NOTHROW(Pattern("[(?=] \\(\\?= ([^]1]+)")); // in brackets, and escaped
}

TEST_CASE("no expression and no line take long, and 100,000 parentheses are refused in a short sentence, or do no harm")
{
  const std::string line(20'000, 'a');
  CHECK_FALSE(Pattern("(a+)+b").is_in(line));
  CHECK_FALSE(Pattern("(a|a)*c").is_in(line));
  const std::string begin(100'000, '('), end(100'000, ')');
  std::string groups;
  for (int i = 0; i < 100'000; ++i) groups += "(?:";
  for (const auto& text : {begin, begin + "x" + end, end, "(" + std::string(100'000, 'a'), groups}) {
    const auto why = dt::test::message_of([&] { Pattern{text}; });
    INFO(why.substr(0, 300));
    CHECK(why.size() < 250);
  }
  CHECK_FALSE(Pattern(groups + "x" + end).has_group());
}
