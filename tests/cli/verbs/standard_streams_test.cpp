// `-` as a file: standard input for recipes, standard output for -o.
#include "core/text.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

using dt::test::Dtctl;
using dt::test::Words;

namespace {

// `dtctl words…` with this text as its input.
dt::CommandResult with_input(const Dtctl& dtctl, const std::string& text, const Words& words)
{
  const auto file = dtctl.write("input.txt", text);
  return dt::run_command({"bash", "-c", "cat " + dt::shell_quote(file.string()) + " | " + dt::shell_join(dtctl.command(words))});
}

const std::string recipe =
    "version: 1\nmodel: {name: lenet}\ndata: {name: synthetic}\ntrain: {global_batch: 8, steps: 20}\nname: piped\n";

} // namespace

TEST_CASE("a recipe is read from standard input, and its mistakes have a place there")
{
  const Dtctl dtctl;
  const auto valid = with_input(dtctl, recipe, {"validate", "-", "--json"});
  INFO(valid.err);
  REQUIRE(valid.exit_code == 0);
  const auto json = dt::test::Json::parse(valid.out);
  CHECK(json.at("name") == "piped");
  CHECK(json.at("path") == "<stdin>");
  CHECK(with_input(dtctl, recipe, {"sweep", "--dry-run", "-"}).exit_code == 0);
  const auto wrong = with_input(dtctl, recipe + "optimizer: {rate: 1}\n", {"validate", "-"});
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Catch::Contains("<stdin>:6:13: "));
  const auto unnamed = with_input(dtctl, recipe.substr(0, recipe.find("name: piped")), {"validate", "-", "--json"});
  CHECK(dt::test::Json::parse(unnamed.out).at("name") == "stdin");
}

TEST_CASE("the schema and the images of a set go to standard output with -o -")
{
  const Dtctl dtctl;
  const auto schema = dtctl.run({"recipe", "schema", "-o", "-"});
  CHECK(schema.exit_code == 0);
  CHECK(dt::test::Json::parse(schema.out).contains("properties"));
  REQUIRE(dtctl.run({"data", "make", "digits", "--train", "20", "--test", "10"}).exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(dtctl.folder() / "-"));
  CHECK(dtctl.run({"data", "pack", "images", "-o", "-"}).exit_code == 2);
}
