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

TEST_CASE("values are read in every form of their type, and shown in one")
{
  struct Row {
    const char *path, *text, *value;
  };
  const std::vector<Row> rows{{"train.seed", "12", "12"},
                              {"train.seed", "+12", "12"},
                              {"train.seed", "12.0", "12"}, // as in JSON, and so in the schema
                              {"train.seed", "1.2e1", "12"},
                              {"train.seed", "12.", "12"},
                              {"train.seed", "1000000000000000", "1000000000000000"},
                              {"optimizer.learning_rate", "0.05", "0.05"},
                              {"optimizer.learning_rate", "5e-2", "0.05"},
                              {"optimizer.learning_rate", "1", "1"},
                              {"data.shuffle", "true", "true"},
                              {"data.shuffle", "False", "false"},
                              {"resources.account", "123", "123"}, // texts are taken as written, quoted or not
                              {"resources.account", "no", "no"},
                              {"resources.account", "0x1", "0x1"},
                              {"resources.account", "\"\"", ""},
                              {"name", "\"$(touch /tmp/x); '\"", "$(touch /tmp/x); '"},
                              {"resources.setup", "[\"a\\nb\"]", "a\nb"},
                              {"description", "\"a\\nb\"", "a\nb"},
                              {"optimizer.schedule", "cosine", "cosine"},
                              {"resources.time_limit", "90s", "90"},
                              {"resources.time_limit", "\"01:30:00\"", "5400"},
                              {"train.stall_after", "0", "0"},
                              {"study.ranks", "[1, 2, 4]", "1, 2, 4"},
                              {"resources.modules", "[gcc, 12]", "gcc, 12"},
                              {"resources.env", "{A: 1, B: yes}", "A=1, B=yes"},
                              // Names and prose may hold what can be seen.
                              {"data.path", "l\u2019\u00E9t\u00E9 \u2013 1", "l\u2019\u00E9t\u00E9 \u2013 1"},
                              {"description", "\u201Cfast\u201D\u00A0\u2212 5\u00A0%", "\u201Cfast\u201D\u00A0\u2212 5\u00A0%"}};
  for (const auto& [path, text, value] : rows) {
    INFO(path << ": " << text);
    CHECK(read(path, text) == value);
  }
}

TEST_CASE("a value of another type, out of its range or with a doubtful reading is refused with the right one")
{
  struct Row {
    const char *path, *text, *refusal;
  };
  const std::vector<Row> rows{
      {"train.seed", "1000000000000001", " is 1000000000000001; allowed: 0 to 1000000000000000"},
      {"train.seed", "-1", " is -1; allowed: 0 to 1000000000000000"},
      {"train.seed", "99999999999999999999999", " is `99999999999999999999999`; allowed: 0 to 1000000000000000"},
      {"train.seed", "\"12\"", " must be a whole number, not the text `12`; remove the quotes"},
      {"train.seed", "010", " is `010`, which some YAML readers interpret as octal; remove the leading zeros"},
      {"train.seed", "[1]", " must be a whole number, not a list"},
      {"train.seed", "", " has no value; give one or remove the key"},
      {"train.global_batch", "0", " is 0; allowed: 1 to 2100000000 samples"},
      {"train.steps", "0", " is 0; allowed: 1 to 1000000000000000 steps"},
      {"train.epochs", "0", " is 0; allowed: 1e-06 to 1000000000 epochs"},
      {"optimizer.learning_rate", "1e999", " is `1e999`, which does not fit a double; allowed: 1e-12 to 1000000"},
      {"optimizer.momentum", "1", " is 1; allowed: 0 to 0.999999"},
      {"train.target_accuracy", "98", " is 98; allowed: 0 to 1"},
      {"optimizer.momentum", "0,9", " must be a number, not `0,9`"},
      {"data.shuffle", "yes", " must be true or false, not `yes`; write true"},
      {"data.shuffle", "off", " must be true or false, not `off`; write false"},
      {"data.shuffle", "\"true\"", " must be true or false, not the text `true`; remove the quotes"},
      {"data.shuffle", "maybe", " must be true or false, not `maybe`"},
      {"description", "\"a\\u2066b\"", " must be a text without control characters, not the text `a\\xe2\\x81\\xa6b`"},
      {"resources.partition", "\"a\\nb\"", " must be one line without control characters, not the text `a\\x0ab`"},
      {"resources.modules", "[\"a\\tb\"]", " must be one line without control characters, not the text `a\\x09b`"},
      {"resources.env", "{A: \"x\\0y\"}", " contains a NUL character, which cannot be passed to a program"},
      {"optimizer.schedule", "cosin", " is `cosin`; did you mean `cosine`? Allowed: constant, step, polynomial, cosine"},
      {"study.mode", "{}", " must be one of strong, weak, partition, scaling, not a map"},
      {"resources.time_limit", "soon", " must be a duration such as 90m, 1h30m,"},
      {"resources.time_limit", "90", " needs a unit: write 90m for 90 minutes"},
      {"resources.time_limit", "0", " is 0; allowed: 1 to 1000000000 s"},
      {"study.ranks", "2", " must be a list; write [2]"},
      {"study.ranks", "[1, x]", " must be a whole number, not `x`"},
      {"study.ranks", "{a: 1}", " must be a list, not a map"},
      {"resources.env", "{A: }", " has a text without value; write \"\" for an empty one"},
      {"resources.env", "[A]", " must be a map of names to texts, not a list"},
      {"optimizer.learning_rate", "\u22120.1", " contains U+2212, which looks like `-`; type it again"}};
  for (const auto& [path, text, refusal] : rows)
    CHECK_THAT(read(path, text), Catch::StartsWith("`" + std::string(path) + "`" + refusal));
  for (const std::string wrong : {"1.5", "1e-3", "1e30", "0x10", "0o7", "1_000", "+-1", "one", ".inf"})
    CHECK(read("train.seed", wrong) == "`train.seed` must be a whole number, not `" + wrong + "`");
  for (const std::string wrong : {".nan", ".NaN", "nan", ".inf", "-.inf", "inf", "-Infinity"})
    CHECK(read("optimizer.learning_rate", wrong) == "`optimizer.learning_rate` must be a finite number, not `" + wrong + "`");
}

TEST_CASE("a character that looks like another or like nothing is named with its code point, wherever it stands")
{
  struct Row {
    const char *path, *text, *named;
  };
  for (const auto& [path, text, named] :
       std::vector<Row>{{"name", "\"a\\u202Eb\"", "U+202E"},
                        {"train.seed", "1\u200B2", "U+200B, which is invisible"},
                        {"model.name", "lenet\u00A0", "U+00A0, which looks like a blank"},
                        {"train.steps", "\uFF11\uFF10", "U+FF11, which looks like `1`"},
                        {"optimizer.schedule", "\u201Ccosine\u201D", "U+201C, which looks like `\"`"},
                        {"resources.scheduler_args", "[--mem=1G, \u2013\u2013mem=4G]", "U+2013, which looks like `-`"},
                        {"program.command", "[python, train.py, \u2212\u2212lr]", "U+2212"},
                        {"program.command", "[python, \"train\u200B.py\"]", "U+200B"},
                        {"resources.env", "{ A: \"x\u00A0y\" }", "U+00A0"}})
    CHECK_THAT(read(path, text), Catch::Contains(named));
}

TEST_CASE("all wrong elements of a list are found")
{
  CHECK(places_of(minimal("study: { ranks: [0, x, 1], mode: strong }\n")) == "5:18 5:21");
}
