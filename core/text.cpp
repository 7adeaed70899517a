#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

namespace dt {
namespace {

bool is_shell_safe(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+:,./-").find(c) != std::string_view::npos;
}

// Damerau-Levenshtein distance (optimal string alignment): a swap of two neighbouring characters counts as one edit.
std::size_t edit_distance(std::string_view a, std::string_view b)
{
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> two_up(width), up(width), row(width);
  std::iota(up.begin(), up.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, up[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
    std::swap(two_up, up);
    std::swap(up, row);
  }
  return up[b.size()];
}

// Length of the well-formed UTF-8 sequence at the beginning of `bytes`; 0 if it is not well formed (RFC 3629).
std::size_t utf8_length(std::string_view bytes)
{
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xC0) != 0x80) return 0;
  const auto second = at(1);
  if (first == 0xE0 && second < 0xA0) return 0; // overlong
  if (first == 0xED && second > 0x9F) return 0; // surrogate
  if (first == 0xF0 && second < 0x90) return 0; // overlong
  if (first == 0xF4 && second > 0x8F) return 0; // beyond U+10FFFF
  return length;
}

// C0 characters, DEL, and C1 characters (U+0080 to U+009F), which terminals interpret as well.
bool starts_with_control(std::string_view text)
{
  const auto first = static_cast<unsigned char>(text.front());
  return first < 0x20 || first == 0x7F || (first == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0);
}

// Invisible characters that change the direction or the order of the surrounding text (UAX #9): U+061C, U+200E, U+200F, U+202A to
// U+202E, U+2066 to U+2069. With them a terminal can show different words than the text contains.
bool starts_with_direction_mark(std::string_view text)
{
  if (text.starts_with("\u061C")) return true;
  if (text.size() < 3 || text[0] != '\xE2') return false;
  const auto second = static_cast<unsigned char>(text[1]), third = static_cast<unsigned char>(text[2]);
  if (second == 0x80) return third == 0x8E || third == 0x8F || (third >= 0xAA && third <= 0xAE);
  return second == 0x81 && third >= 0xA6 && third <= 0xA9;
}

bool is_unprintable(std::string_view text) { return starts_with_control(text) || starts_with_direction_mark(text); }

} // namespace

std::string shell_quote(std::string_view text)
{
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_shell_safe)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string shell_join(std::span<const std::string> words)
{
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + shell_quote(word);
  return line;
}

std::vector<std::string> split(std::string_view text, char separator)
{
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator)
{
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) text.append(i == 0 ? "" : separator).append(parts[i]);
  return text;
}

bool is_digits(std::string_view text)
{
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view trim(std::string_view text)
{
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string last_line(std::string_view text)
{
  const auto trimmed = trim(text);
  return std::string(trim(trimmed.substr(trimmed.rfind('\n') + 1)));
}

std::string lower_case(std::string_view text)
{
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

std::optional<std::string> nearest(std::string_view wrong, std::span<const std::string> candidates)
{
  if (wrong.size() > 64) return std::nullopt;
  std::optional<std::string> best;
  // The distance must be below this value. The limit by length excludes names that have nothing in common.
  std::size_t best_distance = std::min(std::max<std::size_t>(1, wrong.size() / 3) + 1, wrong.size());
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(wrong, candidate);
    if (distance < best_distance) best_distance = distance, best = candidate;
  }
  return best;
}

std::string advice(std::string_view wrong, std::span<const std::string> allowed)
{
  const auto near = nearest(wrong, allowed);
  if (!near) return "; allowed: " + join(allowed, ", ");
  return "; did you mean `" + *near + "`? Allowed: " + join(allowed, ", ");
}

bool is_valid_utf8(std::string_view bytes)
{
  while (!bytes.empty()) {
    const auto length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text)
{
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const auto length = is_unprintable(text) ? 0 : utf8_length(text);
    if (length == 0) {
      shown += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
      text.remove_prefix(1);
      continue;
    }
    shown += text.substr(0, length);
    text.remove_prefix(length);
  }
  return shown;
}

std::string printable_lines(std::string_view text)
{
  std::string shown;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\n\t"), text.size());
    shown += printable(text.substr(0, end));
    if (end < text.size()) shown += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

std::size_t display_width(std::string_view text)
{
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string format_shortest(double value)
{
  if (std::isnan(value)) return "nan"; // the sign has no meaning; 0.0/0.0 sets it
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

} // namespace dt
