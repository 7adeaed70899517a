#include "recipes/reading/diagnostics.hpp"

#include "tests/core/error_of.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;

namespace {

Mark at(const std::string& file, int line, int column) { return {std::make_shared<const std::string>(file), line, column}; }

std::string text_of(const Diagnostics& diagnostics)
{
  return dt::test::message_of([&] { diagnostics.throw_if_any(); });
}

} // namespace

TEST_CASE("a diagnostic reads file:line:column, only the file without a line, and texts of others are printable and cut between "
          "characters")
{
  CHECK(to_text(Diagnostic{"r.yaml", 3, 5, "is wrong"}) == "r.yaml:3:5: is wrong");
  CHECK(to_text(Diagnostic{"r.yaml", 0, 0, "is empty"}) == "r.yaml: is empty");
  CHECK(to_text(Diagnostic{"a\nb.yaml", 1, 1, "x"}) == "a\\x0ab.yaml:1:1: x");
  CHECK(ticked("a\tb") == "`a\\x09b`");
  CHECK(ticked(std::string(79, 'x') + "éé") == "`" + std::string(79, 'x') + "…`");
}

TEST_CASE("diagnostics come file by file in the order of the lines, each once, after a hundred only counted, and are the "
          "author's error")
{
  Diagnostics diagnostics;
  diagnostics.add(at("b", 2, 1), "late");
  diagnostics.add(at("a", 1, 1), "other file");
  diagnostics.add(at("b", 1, 9), "early");
  diagnostics.add(at("b", 2, 1), "late");
  CHECK(text_of(diagnostics) == "b:1:9: early\nb:2:1: late\na:1:1: other file");
  Diagnostics many;
  for (int line = 1; line <= 250; ++line) many.add(at("r.yaml", line, 1), "wrong");
  const auto text = text_of(many);
  CHECK(std::count(text.begin(), text.end(), '\n') == 100);
  CHECK(text.ends_with("\nr.yaml: 150 more mistakes are not shown"));
  Diagnostics one;
  one.throw_if_any();
  one.add(at("a", 1, 1), "x");
  CHECK_THROWS_AS(one.throw_if_any(), RecipeError);
  CHECK(dt::test::error_of([&] { one.throw_if_any(); }).kind() == ErrorKind::recipe);
}
