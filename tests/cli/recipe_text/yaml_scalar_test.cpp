// Texts as YAML scalars, read again by the recipe reader.
#include "cli/recipe_text/yaml_scalar.hpp"

#include "core/files/file.hpp"
#include "recipes/recipe.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::cli;

namespace {

// The name of a recipe with this line.
std::string name_read_from(const std::string& scalar)
{
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "recipe.yaml";
  write_file_atomic(file, "version: 1\nname: " + scalar +
                              "\nmodel: {name: lenet}\ndata: {name: digits}\ntrain: {global_batch: 32, epochs: 1}\n");
  return recipes::load_plan(file, {}).name;
}

} // namespace

TEST_CASE("every line that a terminal can show is read back as it is, and plain names stay plain")
{
  for (const std::string text :
       {"a: b",     "x # y",  "\"quoted\"", "it's",        "- dash",   "[list]",      "{map: 1}", "&anchor", "*alias",
        "!tag",     "%dir",   "@at",        "`tick`",      "null",     "True",        "no",       "1e3",     "0x10",
        "~",        " front", "behind ",    "back\\slash", "\\n",      "ends in \\",  "a,b",      "? key",   "| text",
        "> fold",   "---",    "...",        "<<",          "=",        "über 網路 🚀", "'",        "\"",      "2026-11-23",
        "12:30:00", ".nan",   "$(rm)",      "a\"b: c",     "#comment", "key: #",      "yes/no"}) {
    INFO(text);
    CHECK(is_plain_line(text));
    CHECK(name_read_from(yaml_scalar(text)) == text);
  }
  for (const auto* name : {"lenet-strong", "a", "my_study.2", "folder/name"}) CHECK(yaml_scalar(name) == name);
}

TEST_CASE("texts with control characters, marks of direction or broken UTF-8 are no plain lines")
{
  for (const auto& text : {std::string("two\nlines"), std::string("tab\t"), std::string("\033[31mred"), std::string("nul\0", 4),
                           std::string("\r"), std::string("\xe2\x80\xae reversed"), std::string("\xff\xfe"), std::string("\x7f")})
    CHECK_FALSE(is_plain_line(text));
}
