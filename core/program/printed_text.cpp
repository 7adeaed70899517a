#include "core/program/printed_text.hpp"

#include "core/number.hpp"
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

// The lines of a terminal of any height and width, and its cursor.
class Screen {
 public:
  void take(std::string_view printed)
  {
    for (std::size_t at = 0; at < printed.size();) at = take_at(printed, at);
  }

  std::string text() const
  {
    std::string text;
    for (std::size_t i = 0; i < lines_.size(); ++i) text += (i > 0 ? "\n" : "") + lines_[i];
    return text;
  }

 private:
  std::size_t take_at(std::string_view printed, std::size_t at)
  {
    const char c = printed[at];
    if (c == escape) return take_code(printed, at);
    if (c == '\n') {
      if (++line_ == lines_.size()) lines_.emplace_back();
      byte_ = 0;
    } else if (c == '\r') {
      byte_ = 0;
    } else if (c == '\b') {
      step_back();
    } else {
      std::size_t length = 1;
      while (at + length < printed.size() && length < 4 && is_inside_code_point(printed[at + length])) ++length;
      put(printed.substr(at, length));
      return at + length;
    }
    return at + 1;
  }

  std::size_t take_code(std::string_view printed, std::size_t at)
  {
    bool moves = false;
    const auto end = end_of_code(printed, at, moves);
    const auto code = printed.substr(at, end - at);
    const auto number = code.size() < 3 ? std::string_view() : code.substr(2, code.size() - 3);
    const bool is_known = code.size() >= 3 && code[1] == '[' && std::string_view("ABCDEFGKmhl").find(code.back()) != code.npos;
    if (!is_known && code != "\x1b[J" && code != "\x1b[0J") { // it is text
      put(printed.substr(at, 1));
      return at + 1;
    }
    const auto times = times_in(number);
    switch (code.back()) {
    case 'A': // up, at the same column
    case 'F': // up, at the beginning
      go_up(times, code.back() == 'F');
      break;
    case 'B':
    case 'E':
      go_down(times);
      if (code.back() == 'E') byte_ = 0;
      break;
    case 'D':
      for (std::size_t i = 0; i < times; ++i) step_back();
      break;
    case 'C':
      for (std::size_t i = 0; i < times; ++i) step_on();
      break;
    case 'G':
      byte_ = 0;
      for (std::size_t i = 1; i < times; ++i) step_on();
      break;
    case 'J': // erase below
      lines_.resize(line_ + 1);
      lines_[line_].resize(byte_);
      break;
    case 'K':
      erase(number);
      break;
    default:
      break;
    }
    return end;
  }

  static std::size_t times_in(std::string_view digits)
  {
    return std::clamp<std::size_t>(number_of<std::size_t>(digits).value_or(1), 1, 1000);
  }

  std::size_t column() const
  {
    const auto begin = lines_[line_].begin();
    return static_cast<std::size_t>(
        std::count_if(begin, begin + static_cast<std::ptrdiff_t>(byte_), [](char c) { return !is_inside_code_point(c); }));
  }

  void go_to(std::size_t line, std::size_t column)
  {
    line_ = line;
    byte_ = 0;
    for (std::size_t i = 0; i < column; ++i) step_on();
  }

  void go_up(std::size_t times, bool to_begin) { go_to(line_ - std::min(times, line_), to_begin ? 0 : column()); }

  void go_down(std::size_t times)
  {
    const auto at = column();
    if (line_ + times >= lines_.size()) lines_.resize(line_ + times + 1);
    go_to(line_ + times, at);
  }

  void step_back()
  {
    while (byte_ > 0 && is_inside_code_point(lines_[line_][--byte_])) {
    }
  }

  std::size_t length_here() const
  {
    const auto& line = lines_[line_];
    std::size_t length = byte_ < line.size() ? 1 : 0;
    while (length > 0 && byte_ + length < line.size() && is_inside_code_point(line[byte_ + length])) ++length;
    return length;
  }

  void step_on()
  {
    if (byte_ == lines_[line_].size()) lines_[line_] += ' ';
    byte_ += length_here();
  }

  void put(std::string_view character)
  {
    lines_[line_].replace(byte_, length_here(), character);
    byte_ += character.size();
  }

  // Of the line: what is behind the cursor, or all.
  void erase(std::string_view kind)
  {
    const auto at = column();
    if (kind.empty() || kind == "0") lines_[line_].resize(byte_);
    if (kind != "2") return;
    lines_[line_].clear();
    go_to(line_, at);
  }

  std::vector<std::string> lines_ = {""};
  std::size_t line_ = 0, byte_ = 0; // of the cursor
};

} // namespace

std::string shown_text(std::string_view printed)
{
  if (printed.find_first_of("\r\b\x1b") == std::string_view::npos) return std::string(printed);
  Screen screen;
  screen.take(printed);
  auto text = screen.text();
  static const RE2 blanks_at_end("(?m)[ ]+$", RE2::Quiet);
  RE2::GlobalReplace(&text, blanks_at_end, "");
  return text;
}

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
