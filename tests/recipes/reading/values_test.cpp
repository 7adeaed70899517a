#include "recipes/reading/values.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

// What becomes of `text` as the value of a key: the value as people read it, or the error without its place.
std::string read(std::string_view path, const std::string& text)
{
  Diagnostics diagnostics;
  const auto node = parse_document({std::make_shared<const std::string>("f"), text}, diagnostics);
  REQUIRE(node);
  const auto value = read_value(*find_key(path), *node, diagnostics);
  try {
    diagnostics.throw_if_any();
  } catch (const RecipeError& error) {
    CHECK_FALSE(value);
    return error.diagnostics().front().message;
  }
  REQUIRE(value);
  return dt::to_text(*value);
}

} // namespace

TEST_CASE("whole numbers are read exactly and nothing else is one")
{
  CHECK(read("train.seed", "12") == "12");
  CHECK(read("train.seed", "+12") == "12");
  for (const auto* same : {"12.0", "1.2e1", "12."}) CHECK(read("train.seed", same) == "12"); // as in JSON, and so in the schema
  CHECK(read("train.seed", "1000000000000000") == "1000000000000000");
  CHECK(read("train.seed", "1000000000000001") == "`train.seed` is 1000000000000001; allowed: 0 to 1000000000000000");
  CHECK(read("train.seed", "-1") == "`train.seed` is -1; allowed: 0 to 1000000000000000");
  CHECK(read("train.seed", "99999999999999999999999") ==
        "`train.seed` is `99999999999999999999999`; allowed: 0 to 1000000000000000");
  for (const auto* wrong : {"1.5", "1e-3", "1e30", "0x10", "0o7", "1_000", "+-1", "one", ".inf"})
    CHECK(read("train.seed", wrong) == "`train.seed` must be a whole number, not `" + std::string(wrong) + "`");
  CHECK(read("train.seed", "\"12\"") == "`train.seed` must be a whole number, not the text `12`; remove the quotes");
  CHECK(read("train.seed", "010") ==
        "`train.seed` is `010`, which some YAML readers interpret as octal; remove the leading zeros");
  CHECK(read("train.seed", "[1]") == "`train.seed` must be a whole number, not a list");
  CHECK(read("train.seed", "") == "`train.seed` has no value; give one or remove the key");
}

TEST_CASE("a batch, a step count and an epoch count of nothing are refused")
{
  CHECK(read("train.global_batch", "0") == "`train.global_batch` is 0; allowed: 1 to 2100000000 samples");
  CHECK(read("train.steps", "0") == "`train.steps` is 0; allowed: 1 to 1000000000000000 steps");
  CHECK(read("train.epochs", "0") == "`train.epochs` is 0; allowed: 1e-06 to 1000000000 epochs");
}

TEST_CASE("numbers are finite and in range")
{
  CHECK(read("optimizer.learning_rate", "0.05") == "0.05");
  CHECK(read("optimizer.learning_rate", "5e-2") == "0.05");
  CHECK(read("optimizer.learning_rate", "1") == "1");
  for (const auto* wrong : {".nan", ".NaN", "nan", ".inf", "-.inf", "inf", "-Infinity"})
    CHECK(read("optimizer.learning_rate", wrong) ==
          "`optimizer.learning_rate` must be a finite number, not `" + std::string(wrong) + "`");
  CHECK(read("optimizer.learning_rate", "1e999") ==
        "`optimizer.learning_rate` is `1e999`, which does not fit a double; allowed: 1e-12 to 1000000");
  CHECK(read("optimizer.momentum", "1") == "`optimizer.momentum` is 1; allowed: 0 to 0.999999");
  CHECK(read("train.target_accuracy", "98") == "`train.target_accuracy` is 98; allowed: 0 to 1");
  CHECK(read("optimizer.momentum", "0,9") == "`optimizer.momentum` must be a number, not `0,9`");
}

TEST_CASE("booleans are true and false, and YAML 1.1's other words are refused with the right one")
{
  CHECK(read("data.shuffle", "true") == "true");
  CHECK(read("data.shuffle", "False") == "false");
  CHECK(read("data.shuffle", "yes") == "`data.shuffle` must be true or false, not `yes`; write true");
  CHECK(read("data.shuffle", "off") == "`data.shuffle` must be true or false, not `off`; write false");
  CHECK(read("data.shuffle", "\"true\"") == "`data.shuffle` must be true or false, not the text `true`; remove the quotes");
  CHECK(read("data.shuffle", "maybe") == "`data.shuffle` must be true or false, not `maybe`");
}

TEST_CASE("texts are taken as written, quoted or not")
{
  CHECK(read("resources.account", "123") == "123");
  CHECK(read("resources.account", "no") == "no");
  CHECK(read("resources.account", "0x1") == "0x1");
  CHECK(read("resources.account", "\"\"").empty());
  CHECK(read("name", "\"$(touch /tmp/x); '\"") == "$(touch /tmp/x); '");
}

TEST_CASE("names, labels and descriptions hold nothing that changes what a terminal shows")
{
  CHECK_THAT(read("name", "\"a\\u202Eb\""), Catch::Contains("contains U+202E"));
  CHECK(read("description", "\"a\\u2066b\"") ==
        "`description` must be a text without control characters, not the text `a\\xe2\\x81\\xa6b`");
}

TEST_CASE("a text that becomes a line of a script stays one line")
{
  CHECK(read("resources.partition", "\"a\\nb\"") ==
        "`resources.partition` must be one line without control characters, not the text `a\\x0ab`");
  CHECK(read("resources.modules", "[\"a\\tb\"]") ==
        "`resources.modules` must be one line without control characters, not the text `a\\x09b`");
  CHECK(read("resources.setup", "[\"a\\nb\"]") == "a\nb");
  CHECK(read("description", "\"a\\nb\"") == "a\nb");
  CHECK(read("resources.env", "{A: \"x\\0y\"}") ==
        "`resources.env` contains a NUL character, which cannot be passed to a program");
}

TEST_CASE("choices name the nearest and all")
{
  CHECK(read("optimizer.schedule", "cosine") == "cosine");
  CHECK(read("optimizer.schedule", "cosin") ==
        "`optimizer.schedule` is `cosin`; did you mean `cosine`? Allowed: constant, step, polynomial, cosine");
  CHECK(read("study.mode", "{}") == "`study.mode` must be one of strong, weak, partition, scaling, not a map");
}

TEST_CASE("durations are seconds, however written")
{
  CHECK(read("resources.time_limit", "90s") == "90");
  CHECK(read("resources.time_limit", "2-12:00") == "216000");
  CHECK(read("resources.time_limit", "1h30m") == "5400");
  CHECK(read("resources.time_limit", "01:30:00") == "5400");
  CHECK(read("resources.time_limit", "\"01:30:00\"") == "5400");
  CHECK(read("resources.time_limit", "soon") ==
        "`resources.time_limit` must be a duration such as 90m, 1h30m, 01:30:00 or 2-12:00:00 (days-hours:minutes:seconds), not "
        "`soon`");
  CHECK(read("resources.time_limit", "90") ==
        "`resources.time_limit` needs a unit: write 90m for 90 minutes, which is what Slurm reads, or 90s for 90 seconds");
  CHECK(read("train.stall_after", "0") == "0");
  CHECK(read("resources.time_limit", "0") == "`resources.time_limit` is 0; allowed: 1 to 1000000000 s");
}

TEST_CASE("a character that looks like another or like nothing is named with its code point")
{
  CHECK(read("optimizer.learning_rate", "\u22120.1") ==
        "`optimizer.learning_rate` contains U+2212, which looks like `-`; type it again");
  CHECK(read("train.seed", "1\u200B2").find("U+200B, which is invisible") != std::string::npos);
  CHECK(read("model.name", "lenet\u00A0").find("U+00A0, which looks like a blank") != std::string::npos);
  CHECK(read("train.steps", "\uFF11\uFF10").find("U+FF11, which looks like `1`") != std::string::npos);
  CHECK(read("optimizer.schedule", "\u201Ccosine\u201D").find("U+201C, which looks like `\"`") != std::string::npos);
  CHECK(read("resources.scheduler_args", "[--mem=1G, \u2013\u2013mem=4G]").find("U+2013, which looks like `-`") !=
        std::string::npos);
  CHECK(read("program.command", "[python, train.py, \u2212\u2212lr]").find("U+2212") != std::string::npos);
  CHECK(read("program.command", "[python, \"train\u200B.py\"]").find("U+200B") != std::string::npos);
  CHECK(read("resources.env", "{ A: \"x\u00A0y\" }").find("U+00A0") != std::string::npos);
  // Names and prose may hold what can be seen.
  CHECK(read("data.path", "l\u2019\u00E9t\u00E9 \u2013 1") == "l\u2019\u00E9t\u00E9 \u2013 1");
  CHECK(read("description", "\u201Cfast\u201D\u00A0\u2212 5\u00A0%") == "\u201Cfast\u201D\u00A0\u2212 5\u00A0%");
}

TEST_CASE("lists and maps are written as such")
{
  CHECK(read("study.ranks", "[1, 2, 4]") == "1, 2, 4");
  CHECK(read("study.ranks", "2") == "`study.ranks` must be a list; write [2]");
  CHECK(read("study.ranks", "[1, x]") == "`study.ranks` must be a whole number, not `x`");
  CHECK(read("study.ranks", "{a: 1}") == "`study.ranks` must be a list, not a map");
  CHECK(read("resources.modules", "[gcc, 12]") == "gcc, 12");
  CHECK(read("resources.env", "{A: 1, B: yes}") == "A=1, B=yes");
  CHECK(read("resources.env", "{A: }") == "`resources.env` has a text without value; write \"\" for an empty one");
  CHECK(read("resources.env", "[A]") == "`resources.env` must be a map of names to texts, not a list");
}

TEST_CASE("all wrong elements of a list are found")
{
  CHECK(
      errors_of(minimal("study: { ranks: [0, x, 1], mode: strong }\n")) ==
      "r.yaml:5:18: `study.ranks` is 0; allowed: 1 to 1000000 ranks\nr.yaml:5:21: `study.ranks` must be a whole number, not `x`");
}
