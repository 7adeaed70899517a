#include "core/odd_characters.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace dt {
namespace {

using Range = std::pair<char32_t, char32_t>;

// Format characters and fillers (Unicode category Cf, and letters without a shape).
constexpr std::array invisible{Range{0xAD, 0xAD},     Range{0x61C, 0x61C},   Range{0x115F, 0x1160},
                               Range{0x180E, 0x180E}, Range{0x200B, 0x200F}, Range{0x202A, 0x202E},
                               Range{0x2060, 0x206F}, Range{0x3164, 0x3164}, Range{0xFEFF, 0xFEFF}};
// Spaces and line separators (Zs, Zl, Zp) except the usual space.
constexpr std::array blanks{Range{0x85, 0x85},     Range{0xA0, 0xA0},     Range{0x1680, 0x1680}, Range{0x2000, 0x200A},
                            Range{0x2028, 0x2029}, Range{0x202F, 0x202F}, Range{0x205F, 0x205F}, Range{0x3000, 0x3000}};

struct Like {
  std::u32string_view characters;
  std::string_view ascii; // one for all, or one for each
};

constexpr std::array likes{Like{U"\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uFE58\uFE63", "-"},
                           Like{U"\u2018\u2019\u201A\u201B\u2032", "'"}, Like{U"\u201C\u201D\u201E\u201F\u2033", "\""},
                           Like{U"\u2044\u2215", "/"}, Like{U"\u2236\uA789", ":"}, Like{U"\u037E", ";"}, Like{U"\u2024", "."},
                           // Cyrillic and Greek letters
                           Like{U"\u0430\u0435\u043E\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u03BF", "aeopcyxijso"}};

bool is_in(std::span<const Range> ranges, char32_t c)
{
  return std::any_of(ranges.begin(), ranges.end(), [c](const Range& range) { return c >= range.first && c <= range.second; });
}

// The ASCII character that it looks like; 0: none.
char ascii_like(char32_t c)
{
  if (c >= 0xFF01 && c <= 0xFF5E) return static_cast<char>(c - 0xFF01 + '!'); // full-width forms
  for (const auto& like : likes)
    if (const auto at = like.characters.find(c); at != std::u32string_view::npos)
      return like.ascii.size() == 1 ? like.ascii[0] : like.ascii[at];
  return 0;
}

// The code point of a well-formed character.
char32_t code_point(std::string_view character)
{
  const auto first = static_cast<unsigned char>(character[0]);
  char32_t value = character.size() == 1 ? first : first & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1)) value = value << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return value;
}

std::size_t length_at(std::string_view text)
{
  std::size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) ++length;
  return length;
}

} // namespace

std::optional<OddCharacter> find_odd_character(std::string_view text)
{
  if (std::none_of(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; })) return {};
  if (!is_valid_utf8(text)) return {};
  for (std::size_t at = 0; at < text.size(); at += length_at(text.substr(at))) {
    const auto c = code_point(text.substr(at, length_at(text.substr(at))));
    const auto name = fmt::format("U+{:04X}", static_cast<std::uint32_t>(c));
    if (is_in(invisible, c)) return OddCharacter{at, name + ", which is invisible", true};
    if (is_in(blanks, c)) return OddCharacter{at, name + ", which looks like a blank", true};
    if (const char ascii = ascii_like(c); ascii != 0)
      return OddCharacter{at, fmt::format("{}, which looks like `{}`", name, ascii), false, ascii == '-'};
  }
  return {};
}

} // namespace dt
