#include "core/program/printed_text.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace dt;

namespace {

// The number around the first place of `part`; "-" if it is no part of a number.
std::string around(const std::string& text, const std::string& part)
{
  const auto at = text.find(part);
  const auto found = number_around(text, {at, at + part.size()});
  return found ? text.substr(found->begin, found->end - found->begin) : "-";
}

} // namespace

TEST_CASE("a printed number has a sign, an exponent and groups of digits, and may be NaN or infinite")
{
  CHECK(parse_printed_number("0.25") == 0.25);
  CHECK(parse_printed_number(".5") == 0.5);
  CHECK(parse_printed_number("5.") == 5);
  CHECK(parse_printed_number("+3") == 3);
  CHECK(parse_printed_number("6.32e-08") == 6.32e-08);
  CHECK(parse_printed_number("1.23E+05") == 1.23e5);
  CHECK(parse_printed_number("6.32D-08") == 6.32e-08);
  CHECK(parse_printed_number("\u22120.5") == -0.5);
  CHECK(parse_printed_number("1e\u22123") == 1e-3);
  for (const auto* text : {"12,640", "12_640", "12'640", "12\u2019640", "12\u202f640", "12\u00a0640"})
    CHECK(parse_printed_number(text) == 12640);
  CHECK(parse_printed_number("-1,234,567.5e1") == -12345675);
  CHECK(parse_printed_number("0000") == 0);
  for (const auto* text : {"nan", "NaN", "-nan"}) CHECK(std::isnan(parse_printed_number(text).value_or(0)));
  CHECK(parse_printed_number("-inf") == -HUGE_VAL);
  CHECK(parse_printed_number("Infinity") == HUGE_VAL);
}

TEST_CASE("what has two readings or none is no number: a decimal comma, a version, groups of other lengths, a multiplier")
{
  for (const auto* text : {"", "0,532", "1,23", "1,2345", "12,640,5", "1.2.3", "1.234,5", "1,234_567", "12k", "0x1F", "1e", "e5",
                           "--5", "1 2", "three", "1e400", "3d2"}) {
    INFO(text);
    CHECK_FALSE(parse_printed_number(text));
  }
}

TEST_CASE(
    "a part of a number is found to be one on both of its sides, and what stands beside it and does not belong to it is left out")
{
  CHECK(around("loss 6.32e-08", "6.32") == "6.32e-08");
  CHECK(around("loss 6.32e-08", "08") == "6.32e-08");
  CHECK(around("12,640 images", "640") == "12,640");
  CHECK(around("12'640 images", "640") == "12'640");
  CHECK(around("1,234.5 img/s", "234.5") == "1,234.5");
  CHECK(around("loss -0.5", "0.5") == "-0.5");
  CHECK(around("loss \u22120.5", "0.5") == "\u22120.5");
  CHECK(around("loss=.5", "5") == ".5");
  CHECK(around("loss 0,53", "0") == "0,53");
  CHECK(around("lr 1e-3", "1") == "1e-3");
  CHECK(around("lr 6.3D-04", "6.3") == "6.3D-04");
  CHECK(around("step 0x1F", "0") == "0x1F");
  CHECK(around("3.2 \u00d7 10^-8", "3.2") == "3.2 \u00d7 10^");
  CHECK(around("0.123456", "123") == "0.123456");
  CHECK(around("epoch-3", "3") == "3");
  CHECK(around("3/30", "3") == "3");
  CHECK(around("2024-05-01", "05") == "05");
  CHECK(around("resnet50", "50") == "50");
  CHECK(around("improved by +3", "3") == "3");
  CHECK(around("0.5, 640 images", "0.5") == "0.5");
  CHECK(around("loss...5", "5") == "5");
  CHECK(around("0.98.", "0.98") == "0.98");
  CHECK(around("0.05s", "0.05") == "0.05");
  CHECK(around("12.5it/s", "12.5") == "12.5");
  CHECK(around("98.2%", "98.2") == "98.2");
  CHECK(around("loss three", "three") == "-");
}

TEST_CASE("terminal codes, deleted characters and characters of no width are not in the plain text")
{
  CHECK(plain_text("loss=\x1b[32m0.5\x1b[0m]") == "loss=0.5]");
  CHECK(plain_text("\x1b[1;38;5;208mloss\x1b[m 0.5\x1b[K") == "loss 0.5");
  CHECK(plain_text("\x1b]8;;http://a\x1b\\loss\x1b]8;;\a 0.5") == "loss 0.5");
  CHECK(plain_text("\x1b(Bloss\x1b"
                   "7 0.5") == "loss 0.5");
  CHECK(plain_text("0.5\x1b[20G640") == "0.5 640"); // not "0.5640"
  CHECK(plain_text("10%\b\b\b20%") == "20%");
  CHECK(plain_text("\u00e9\bloss") == "loss");
  CHECK(plain_text("loss\u200b\ufeff 0.5") == "loss 0.5");
  CHECK(plain_text("loss\u00a00.5") == "loss 0.5");
  CHECK(plain_text("12\u00a0640") == "12\u202f640");
  CHECK(plain_text("f\xfcr 0.5 \u00e9") == "f?r 0.5 \u00e9");
  CHECK(plain_text("a\tb\x1b") == "a\tb");
  CHECK(plain_text("\x1b]never ends 5") == "never ends 5");
}

TEST_CASE("of a progress bar, or several below each other, the last state is shown, and codes that are none of theirs stay")
{
  CHECK(shown_text("plain\nlines\n") == "plain\nlines\n");
  CHECK(shown_text("10%|#  |\r 50%|## |\r100%|###|\ndone\n") == "100%|###|\ndone\n");
  CHECK(shown_text("\r 10%|#  | 1/3\r100%|###| 3/3") == "100%|###| 3/3");
  CHECK(shown_text("a long line\rshort") == "shortg line"); // as on a terminal
  CHECK(shown_text("a long line\r\x1b[Kshort") == "short");
  CHECK(shown_text("crlf\r\nnext\r\n") == "crlf\nnext\n");
  CHECK(shown_text("1%\b\b2%") == "2%");
  CHECK(shown_text("\x1b[32m\u2588\u2588  \x1b[0m\r\u2588\u2588\u2588\u2588") == "\u2588\u2588\u2588\u2588");
  CHECK(shown_text("a: 1%\nb: 1%\n\x1b[2Aa: 50%\n\x1b[Kb: 20%\n") == "a: 50%\nb: 20%\n");
  CHECK(shown_text("a: 1%\nb: 1%\x1b[1A\ra: 99%\n\rb: 99%") == "a: 99%\nb: 99%");
  CHECK(shown_text("one\ntwo\n\x1b[2A\x1b[Jthree\n") == "three\n");
  CHECK(shown_text("after \x1b[2J\x1b]0;title\x07") == "after \x1b[2J\x1b]0;title\x07");
  CHECK(shown_text("\x1b") == "\x1b");
  CHECK(shown_text("\x1b[999999999Aup").ends_with("up"));
}
