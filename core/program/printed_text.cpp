#include "core/program/printed_text.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <re2/re2.h>

namespace dt {
namespace {

constexpr char escape = '\x1b', bell = '\a';
constexpr std::size_t longest_number = 64; // how far in front of a part a number that contains it is looked for

RE2::Options longest()
{
  RE2::Options options(RE2::Quiet);
  options.set_longest_match(true);
  return options;
}

const std::string exponent = R"((?:[eE][-+\x{2212}]?\d+|[dD][-+\x{2212}]\d+))";
const std::string not_finite = R"((?i:nan|infinity|inf))";
const std::string no_break = R"([\x{a0}\x{2007}\x{2009}\x{202f}])"; // blanks between groups of digits

std::string groups_with(const std::string& mark) { return R"([1-9]\d{0,2}(?:)" + mark + R"(\d{3})+)"; }

// What has a value.
const RE2& number()
{
  static const RE2 expression(R"([-+\x{2212}]?(?:(?:(?:\d+|)" + groups_with(",") + "|" + groups_with("_") + "|" +
                                  groups_with("'") + "|" + groups_with(R"(\x{2019})") + "|" + groups_with(no_break) +
                                  R"()(?:\.\d*)?|\.\d+))" + exponent + "?|" + not_finite + ")",
                              longest());
  return expression;
}

// What a reader takes for one number. Two numbers with a comma between them are among these: nobody can tell "1,234" from them.
const RE2& look_of_a_number()
{
  static const RE2 expression(
      R"([-+\x{2212}\x{2013}]?(?:0[xX][0-9a-fA-F]+|(?:\d+|\.\d+)(?:[.,]\d+|[_'\x{2019}\x{a0}\x{2007}\x{2009}\x{202f}]\d{3})*)" +
          exponent + R"(?(?: ?[×x*·] ?10(?:\^|\*\*|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]))?)|[-+\x{2212}]?)" + not_finite,
      longest());
  return expression;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_inside_code_point(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Whether a number may begin at this byte, in front of another number.
bool may_begin(std::string_view text, std::size_t at)
{
  const char c = text[at], before = at == 0 ? ' ' : text[at - 1];
  if (is_digit(c)) return true;
  if (is_inside_code_point(c) || c == '+') return false; // "+3" and "3" have the same value
  if (is_letter(c)) return !is_letter(before);
  const bool joins = is_letter(before) || is_digit(before) || std::string_view("_)]-+.%").find(before) != std::string_view::npos;
  return !joins;
}

// Where the terminal code ends that begins at `at`. `moves`: whether it moves the cursor.
std::size_t end_of_code(std::string_view text, std::size_t at, bool& moves)
{
  const auto skip = [&](std::size_t from, char lowest, char highest) {
    while (from < text.size() && text[from] >= lowest && text[from] <= highest) ++from;
    return from;
  };
  const char kind = at + 1 < text.size() ? text[at + 1] : '\0';
  if (kind == '[') { // ESC [ parameters intermediates final
    const auto last = skip(skip(at + 2, '\x30', '\x3f'), '\x20', '\x2f');
    moves = last < text.size() && std::string_view("ABCDEFGHdf`aer").find(text[last]) != std::string_view::npos;
    return std::min(last + 1, text.size());
  }
  if (kind != '\0' && std::string_view("]PX^_").find(kind) != std::string_view::npos) { // a text up to BEL or ESC backslash
    for (auto end = at + 2; end < text.size(); ++end) {
      if (text[end] == bell) return end + 1;
      if (text[end] == escape && end + 1 < text.size() && text[end + 1] == '\\') return end + 2;
    }
    return at + 2; // it has no end: its beginning alone is left out
  }
  return std::min(skip(at + 1, '\x20', '\x2f') + 1, text.size()); // ESC intermediates final
}

void erase_last_character(std::string& text)
{
  while (!text.empty() && is_inside_code_point(text.back())) text.pop_back();
  if (!text.empty()) text.pop_back();
}

std::string without_codes(std::string_view printed)
{
  std::string plain;
  for (std::size_t at = 0; at < printed.size();) {
    const char c = printed[at];
    if (c == escape) {
      bool moves = false;
      at = end_of_code(printed, at, moves);
      if (moves) plain += ' ';
      continue;
    }
    ++at;
    if (c == '\b')
      erase_last_character(plain);
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\t')
      plain += c;
  }
  return plain;
}

std::string as_utf8(std::string text)
{
  if (is_valid_utf8(text)) return text;
  std::string valid;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 1;
    while (length < 4 && at + length < text.size() && is_inside_code_point(text[at + length])) ++length;
    const auto point = std::string_view(text).substr(at, length);
    if (is_valid_utf8(point)) {
      valid += point;
      at += length;
    } else {
      valid += static_cast<unsigned char>(text[at]) < 0x80 ? text[at] : '?';
      ++at;
    }
  }
  return valid;
}

} // namespace

std::string plain_text(std::string_view printed)
{
  static const RE2 invisible(R"([\x{ad}\x{200b}-\x{200f}\x{2060}\x{feff}])", RE2::Quiet);
  static const RE2 kept("(\\d)" + no_break + "(\\d)", RE2::Quiet),
      blank(no_break + R"(|\x{3000}|\x{2002}|\x{2003}|\x{2008}|\x{200a})", RE2::Quiet);
  auto text = as_utf8(without_codes(printed));
  const bool is_ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (is_ascii) return text;
  RE2::GlobalReplace(&text, invisible, "");
  // Twice: in "1 234 567" with one digit between two blanks, matches would overlap.
  for (int i = 0; i < 2; ++i) RE2::GlobalReplace(&text, kept, "\\1\x01\\2");
  RE2::GlobalReplace(&text, blank, " ");
  static const RE2 mark("\\x01", RE2::Quiet);
  RE2::GlobalReplace(&text, mark, "\u202f");
  return text;
}

std::optional<double> parse_printed_number(std::string_view text)
{
  if (!RE2::FullMatch(re2::StringPiece(text.data(), text.size()), number())) return std::nullopt;
  static const RE2 marks(R"([,_'\x{2019}\x{a0}\x{2007}\x{2009}\x{202f}])", RE2::Quiet), minus(R"(\x{2212})", RE2::Quiet),
      fortran("[dD]([-+])", RE2::Quiet);
  std::string digits(text);
  RE2::GlobalReplace(&digits, marks, "");
  RE2::GlobalReplace(&digits, minus, "-");
  RE2::GlobalReplace(&digits, fortran, "e\\1");
  const std::string_view unsigned_digits = std::string_view(digits).substr(digits.starts_with('+') ? 1 : 0);
  const auto* end = unsigned_digits.data() + unsigned_digits.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(unsigned_digits.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<TextPart> number_around(std::string_view text, TextPart part)
{
  const re2::StringPiece piece(text.data(), text.size());
  for (auto at = part.begin - std::min(part.begin, longest_number); at <= part.begin; ++at) {
    if (at < text.size() && at < part.begin && !may_begin(text, at)) continue;
    re2::StringPiece found;
    if (!look_of_a_number().Match(piece, at, text.size(), RE2::ANCHOR_START, &found, 1)) continue;
    if (const auto end = at + found.size(); end >= part.end) return TextPart{at, end};
  }
  return std::nullopt;
}

WithoutNan without_nan(std::string_view text, std::string_view digits)
{
  static const RE2 word(R"([-+\x{2212}]?\b(?i:nan|infinity|inf)\b)", RE2::Quiet);
  WithoutNan result;
  const re2::StringPiece piece(text.data(), text.size());
  re2::StringPiece found;
  std::size_t done = 0;
  while (word.Match(piece, done, text.size(), RE2::UNANCHORED, &found, 1)) {
    const auto at = static_cast<std::size_t>(found.data() - text.data());
    result.text += text.substr(done, at - done);
    const auto begin = result.text.size();
    result.text += digits;
    result.places.push_back({{begin, result.text.size()}, parse_printed_number(text.substr(at, found.size())).value_or(NAN)});
    done = at + found.size();
  }
  result.text += text.substr(done);
  return result;
}

} // namespace dt
