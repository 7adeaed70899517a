#include "recipes/reading/diagnostics.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;

namespace {

Mark at(const std::string& file, int line, int column) { return {std::make_shared<const std::string>(file), line, column}; }

std::string text_of(const Diagnostics& diagnostics)
{
  try {
    diagnostics.throw_if_any();
  } catch (const RecipeError& error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("a diagnostic reads file:line:column, and only the file when there is no line")
{
  CHECK(to_text(Diagnostic{"r.yaml", 3, 5, "is wrong"}) == "r.yaml:3:5: is wrong");
  CHECK(to_text(Diagnostic{"r.yaml", 0, 0, "is empty"}) == "r.yaml: is empty");
  CHECK(to_text(Diagnostic{"a\nb.yaml", 1, 1, "x"}) == "a\\x0ab.yaml:1:1: x");
}

TEST_CASE("diagnostics come file by file in the order of the lines, each once")
{
  Diagnostics diagnostics;
  diagnostics.add(at("b", 2, 1), "late");
  diagnostics.add(at("a", 1, 1), "other file");
  diagnostics.add(at("b", 1, 9), "early");
  diagnostics.add(at("b", 2, 1), "late");
  CHECK(text_of(diagnostics) == "b:1:9: early\nb:2:1: late\na:1:1: other file");
}

TEST_CASE("a recipe error is the recipe author's")
{
  Diagnostics diagnostics;
  diagnostics.throw_if_any();
  diagnostics.add(at("a", 1, 1), "x");
  try {
    diagnostics.throw_if_any();
    FAIL("nothing was thrown");
  } catch (const RecipeError& error) {
    CHECK(error.kind() == ErrorKind::recipe);
    REQUIRE(error.diagnostics().size() == 1);
    CHECK(error.diagnostics()[0].message == "x");
  }
}

TEST_CASE("after a hundred mistakes the rest is only counted")
{
  Diagnostics diagnostics;
  for (int line = 1; line <= 250; ++line) diagnostics.add(at("r.yaml", line, 1), "wrong");
  const auto text = text_of(diagnostics);
  CHECK(std::count(text.begin(), text.end(), '\n') == 100);
  CHECK(text.ends_with("\nr.yaml: 150 more mistakes are not shown"));
}

TEST_CASE("texts of others are shown printable and cut between characters")
{
  CHECK(ticked("a\tb") == "`a\\x09b`");
  CHECK(ticked(std::string(79, 'x') + "éé") == "`" + std::string(79, 'x') + "…`");
}
