#include "core/odd_characters.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace dt;

namespace {

std::string words_for(std::string_view text)
{
  const auto odd = find_odd_character(text);
  return odd ? odd->words : "";
}

} // namespace

TEST_CASE("a character that looks like another one, or like nothing, is named with its code point")
{
  CHECK(words_for("a\u00A0b") == "U+00A0, which looks like a blank");
  CHECK(words_for("\u3000") == "U+3000, which looks like a blank");
  CHECK(words_for("\u200B") == "U+200B, which is invisible");
  CHECK(words_for("\uFEFFx") == "U+FEFF, which is invisible");
  CHECK(words_for("\u202Ex") == "U+202E, which is invisible");
  CHECK(words_for("\u22121") == "U+2212, which looks like `-`");
  CHECK(words_for("\u2014set") == "U+2014, which looks like `-`");
  CHECK(words_for("\u2019") == "U+2019, which looks like `'`");
  CHECK(words_for("\uFF1D") == "U+FF1D, which looks like `=`");
  CHECK(words_for("\u043E\u043A") == "U+043E, which looks like `o`");
}

TEST_CASE("the first odd character is found at its byte, behind letters of any script, and plain text and broken bytes hold none")
{
  CHECK(find_odd_character("\u00E9\u00E9\u2212")->offset == 4);
  CHECK(find_odd_character("\U0001F600\u200B\u2212")->offset == 4);
  CHECK(find_odd_character("x\u2212")->looks_like_dash);
  CHECK_FALSE(find_odd_character("x\u00A0")->looks_like_dash);
  CHECK(find_odd_character("x\u00A0")->is_invisible);
  for (const auto* text : {"", "a-b 'c' \"d\"", "\u00E9t\u00E9", "\u4E2D\u6587", "\U0001F600", "\xA0", "\xE2\x80"})
    CHECK_FALSE(find_odd_character(text));
}
