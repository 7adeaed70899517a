#include "cli/recipe_text/questions.hpp"

#include "core/error.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace dt;
using namespace dt::cli;

namespace {

// Asks for a model with these lines as input. Returns what was taken and what was written.
std::pair<std::string, std::string> asked(const std::string& input)
{
  std::istringstream in(input);
  std::ostringstream out;
  std::string taken;
  ask({"model",
       {"lenet", "vgg11"},
       "lenet",
       [&](const std::string& answer) {
         if (answer != "lenet" && answer != "vgg11") throw Error(ErrorKind::usage, "there is no model \"" + answer + "\"");
         taken = answer;
       }},
      in, out, 80);
  return {taken, out.str()};
}

} // namespace

TEST_CASE("a question shows the choices and the default, and an empty answer is the default")
{
  CHECK(asked("\n") == std::pair<std::string, std::string>("lenet", "model: lenet, vgg11\nmodel [lenet]: "));
  CHECK(asked("  vgg11  \n").first == "vgg11");
  CHECK(asked("vgg11").first == "vgg11"); // without a line feed
}

TEST_CASE("an answer that cannot be taken is explained without its terminal escapes, and the question asked again")
{
  const auto [taken, written] = asked("vgg12\nvgg11\n");
  CHECK(taken == "vgg11");
  CHECK(written == "model: lenet, vgg11\nmodel [lenet]: there is no model \"vgg12\"\nmodel [lenet]: ");
  CHECK(asked("\033[2Jvgg\nlenet\n").second.find('\033') == std::string::npos);
}

TEST_CASE("the end of the input ends the questions")
{
  CHECK_THROWS_WITH(asked(""), "the input ended before model was answered; no recipe was written");
  CHECK_THROWS_WITH(asked("vgg12\n"), "the input ended before model was answered; no recipe was written");
}
