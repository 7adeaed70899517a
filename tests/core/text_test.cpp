#include "core/text.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

using namespace dt;

TEST_CASE(
    "split keeps empty parts, so that join undoes it with the separator between parts only, and trim removes blanks at both ends")
{
  CHECK(split("", ',') == std::vector<std::string>{""});
  CHECK(split("a", ',') == std::vector<std::string>{"a"});
  CHECK(split(",", ',') == std::vector<std::string>{"", ""});
  CHECK(split("a,,b,", ',') == std::vector<std::string>{"a", "", "b", ""});
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::string text(random() % 12, ' ');
    for (auto& c : text) c = "a,b"[random() % 3];
    CHECK(join(split(text, ','), ",") == text);
  }
  CHECK(join({}, ", ").empty());
  CHECK(join(std::vector<std::string>{"a"}, ", ") == "a");
  CHECK(join(std::vector<std::string>{"a", "", "b"}, ", ") == "a, , b");
  CHECK(trim(" \t a b \r\n") == "a b");
  CHECK(trim(" \n\t ").empty());
  CHECK(trim("").empty());
  CHECK(trim("a") == "a");
}

TEST_CASE("nearest finds the name behind a slip of the pen, the first of equals, and does not guess a name that it does not know")
{
  const std::vector<std::string> names{"momentum", "sgd", "learning_rate", "weight_decay", "lenet"};
  CHECK(nearest("momentun", names) == "momentum");  // one wrong letter
  CHECK(nearest("momenum", names) == "momentum");   // one missing
  CHECK(nearest("momentumm", names) == "momentum"); // one too many
  CHECK(nearest("sdg", names) == "sgd");            // two swapped
  CHECK(nearest("learing-rate", names) == "learning_rate");
  CHECK(nearest("lenet", names) == "lenet");
  CHECK(nearest("grid", std::vector<std::string>{"gird_", "grim", "grad"}) == "grim");
  CHECK(nearest("abcd", std::vector<std::string>{"abxy", "abcx"}) == "abcx");
  const std::vector<std::string> few{"momentum", "sgd", "learning_rate"};
  CHECK_FALSE(nearest("adam", few));
  CHECK_FALSE(nearest("rmsprop", few));
  CHECK_FALSE(nearest("", few));
  CHECK_FALSE(nearest("sgd", {}));
  CHECK_FALSE(nearest("x", std::vector<std::string>{"y"})); // nothing of the one is in the other
  CHECK_FALSE(nearest(std::string(65, 'a'), std::vector<std::string>{std::string(65, 'a')})); // no name of ours is so long
}

TEST_CASE("UTF-8 is well formed exactly when RFC 3629 says so")
{
  struct Row {
    std::string_view bytes;
    bool valid;
    std::string_view why;
  };
  const std::vector<Row> rows{
      {"", true, "empty"},
      {"plain", true, "ASCII"},
      {{"\0", 1}, true, "U+0000 in one byte"},
      {"\x7F", true, "U+007F"},
      {"\xC2\x80", true, "U+0080, the least of two bytes"},
      {"\xDF\xBF", true, "U+07FF, the greatest of two bytes"},
      {"\xE0\xA0\x80", true, "U+0800, the least of three"},
      {"\xED\x9F\xBF", true, "U+D7FF, below the surrogates"},
      {"\xEE\x80\x80", true, "U+E000, above the surrogates"},
      {"\xEF\xBF\xBF", true, "U+FFFF"},
      {"\xF0\x90\x80\x80", true, "U+10000, the least of four"},
      {"\xF4\x8F\xBF\xBF", true, "U+10FFFF, the last"},
      {"a\xC3\xA9z\xF0\x9F\x98\x80", true, "mixed"},
      {"\x80", false, "continuation alone"},
      {"\xBF", false, "continuation alone"},
      {"\xC0\x80", false, "overlong U+0000"},
      {"\xC1\xBF", false, "overlong U+007F"},
      {"\xE0\x80\xAF", false, "overlong slash in three"},
      {"\xE0\x9F\xBF", false, "overlong U+07FF"},
      {"\xF0\x80\x80\xAF", false, "overlong slash in four"},
      {"\xF0\x8F\xBF\xBF", false, "overlong U+FFFF"},
      {"\xED\xA0\x80", false, "surrogate U+D800"},
      {"\xED\xBF\xBF", false, "surrogate U+DFFF"},
      {"\xF4\x90\x80\x80", false, "U+110000"},
      {"\xF5\x80\x80\x80", false, "lead byte beyond Unicode"},
      {"\xFE", false, "never a byte of UTF-8"},
      {"\xFF", false, "never a byte of UTF-8"},
      {"\xC3", false, "two bytes cut to one"},
      {"\xE2\x82", false, "three bytes cut to two"},
      {"\xF0\x9F\x98", false, "four bytes cut to three"},
      {"\xC3z", false, "second byte is no continuation"},
      {"\xE2\x82z", false, "third byte is no continuation"},
      {"\xF0\x9F\x98z", false, "fourth byte is no continuation"},
      {"good\xFFgood", false, "one wrong byte inside"},
  };
  for (const auto& row : rows) {
    INFO(row.why);
    CHECK(is_valid_utf8(row.bytes) == row.valid);
  }
}

TEST_CASE(
    "printable shows control characters and broken bytes as hexadecimal and leaves all else, and lines keep line feeds and tabs")
{
  CHECK(printable("") == "");
  CHECK(printable("héllo 漢 \xF0\x9F\x98\x80") == "héllo 漢 \xF0\x9F\x98\x80");
  CHECK(printable("a\nb\t\x1b[31m\x7F") == "a\\x0ab\\x09\\x1b[31m\\x7f");
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
  CHECK(printable("\xC3(\xFF") == "\\xc3(\\xff");
  CHECK(printable("\xED\xA0\x80") == "\\xed\\xa0\\x80");
  CHECK(printable_lines("a\tb\n\x1b[2Jc\u202E\n") == "a\tb\n\\x1b[2Jc\\xe2\\x80\\xae\n");
  CHECK(printable_lines("") == "");
  CHECK(printable_lines("\n\n") == "\n\n");
}

TEST_CASE("printable disarms the escape sequences U+0080 to U+009F and the marks that change the direction of text")
{
  CHECK(printable("\xC2\x9B"
                  "31m") == "\\xc2\\x9b31m"); // a terminal reads U+009B as ESC [
  CHECK(printable("\xC2\x80") == "\\xc2\\x80");
  CHECK(printable("\xC2\xA0") == "\xC2\xA0"); // no-break space is no control character
  CHECK(printable("a\u202Eb") == "a\\xe2\\x80\\xaeb");
  for (const auto* mark :
       {"\u061C", "\u200E", "\u200F", "\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    CHECK(printable(mark).find(mark) == std::string::npos);
    CHECK(printable(mark).starts_with("\\x"));
  }
  for (const auto* plain : {"\u061B", "\u200D", "\u2010", "\u2029", "\u202F", "\u2065", "\u206A", "\u05D0"})
    CHECK(printable(plain) == plain);
}

TEST_CASE("what printable returns is valid UTF-8 without control characters, whatever it got")
{
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 40, ' ');
    for (auto& c : bytes) c = static_cast<char>(random() % 256);
    const auto shown = printable(bytes);
    CHECK(is_valid_utf8(shown));
    CHECK(printable(shown) == shown);
  }
}

TEST_CASE(
    "the shortest form of a number reads back to the same number, not-a-number has one form whatever its sign, infinity has two")
{
  CHECK(format_shortest(0.1) == "0.1");
  CHECK(format_shortest(1e-5) == "1e-05");
  CHECK(format_shortest(3) == "3");
  CHECK(format_shortest(-2.5) == "-2.5");
  CHECK(format_shortest(1e300) == "1e+300");
  CHECK(format_shortest(0.1 + 0.2) == "0.30000000000000004");
  CHECK(format_shortest(-std::numeric_limits<double>::max()) == "-1.7976931348623157e+308"); // the longest there is
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    const auto bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    CHECK(std::strtod(format_shortest(value).c_str(), nullptr) == value);
  }
  CHECK(format_shortest(std::nan("")) == "nan");
  CHECK(format_shortest(-std::nan("")) == "nan");
  CHECK(format_shortest(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(format_shortest(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("advice names the nearest and all that is allowed, and the display width counts code points")
{
  const std::vector<std::string> allowed{"epochs", "steps"};
  CHECK(advice("epocs", allowed) == "; did you mean `epochs`? Allowed: epochs, steps");
  CHECK(advice("zzzzzz", allowed) == "; allowed: epochs, steps");
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("héé") == 3);
  CHECK(display_width("\xF0\x9F\x98\x80x") == 2);
}
